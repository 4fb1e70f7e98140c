/**
 * Tests of a Python program, which is imported, and whose names they see as those of `__main__`. The harness replies
 * with the secret when they have come to their end, and tells an exit of theirs from one of the program by the
 * frames. It has secret and tests from its channel: neither is in a file.
 */
export const pythonHarness = `
import json, os, sys, types

def run():
    sent = b""
    while chunk := os.read(3, 65536):
        sent += chunk
    given = json.loads(sent)
    path = os.path.abspath("program.py")
    write, leave, pid, caller = os.write, os._exit, os.getpid, sys._getframe
    own, state = pid(), ["program"]

    def end(status, passed=False):
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass
        # A copy of this process has no verdict.
        if passed and status == 0 and pid() == own:
            write(3, given["secret"].encode())
        leave(status)

    def has_program(codes):
        return any(code.co_filename == path for code in codes)

    def stack(frame):
        while frame:
            yield frame.f_code
            frame = frame.f_back

    def trace(step):
        while step:
            yield step.tb_frame.f_code
            step = step.tb_next

    # For a test that leaves at once; a program that does has no frame of a test alone.
    def leave_at_once(status):
        end(status, state[0] == "tests" and not has_program(stack(caller(1))))

    os._exit = leave_at_once
    module = types.ModuleType("program")
    module.__file__ = path
    sys.modules["__main__"] = sys.modules["program"] = module
    sys.argv = ["tests.py"]
    try:
        with open(path, encoding="utf-8") as file:
            exec(compile(file.read(), path, "exec"), module.__dict__)
        # What the program changed in it is not what the tests use.
        for name in [name for name in sys.modules if name.split(".")[0] == "unittest"]:
            del sys.modules[name]
        module.__name__, state[0] = "__main__", "tests"
        exec(compile(given["tests"], "tests.py", "exec"), module.__dict__)
        end(0, True)
    except SystemExit as error:
        code = error.code
        if not isinstance(code, (int, type(None))):
            print(code, file=sys.stderr)
            code = 1
        end(int(code or 0) & 255, state[0] == "tests" and not has_program(trace(error.__traceback__)))
    except BaseException:
        import traceback
        traceback.print_exc()
        end(1)

run()
`;
