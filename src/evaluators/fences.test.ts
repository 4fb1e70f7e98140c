/** Fenced blocks, by the examples of CommonMark 0.31 and what models write. */
import { describe, expect, it } from "vitest";
import { fencedCode } from "./code/fenced-code.ts";
import { fencedBlocks } from "./fences.ts";

describe("fencedBlocks", () => {
  // The numbers are those of the examples of the specification.
  it.each<readonly [string, string, readonly (readonly [string, string])[]]>([
    ["119", "```\n<\n >\n```", [["", "<\n >"]]],
    ["120", "~~~\n<\n >\n~~~", [["", "<\n >"]]],
    ["121", "``\nfoo\n``", []],
    ["122", "```\naaa\n~~~\n```", [["", "aaa\n~~~"]]],
    ["124", "````\naaa\n```\n``````", [["", "aaa\n```"]]],
    ["126", "```", [["", ""]]],
    ["127", "`````\n\n```\naaa", [["", "\n```\naaa"]]],
    ["131", " ```\n aaa\naaa\n```", [["", "aaa\naaa"]]],
    ["133", "   ```\n   aaa\n    aaa\n  aaa\n   ```", [["", "aaa\n aaa\naaa"]]],
    ["137", "```\naaa\n    ```", [["", "aaa\n    ```"]]],
    ["138", "``` ```\naaa", []],
    ["139", "~~~~~~\naaa\n~~~ ~~", [["", "aaa\n~~~ ~~"]]],
    ["142", "```ruby\ndef foo(x)\n  return 3\nend\n```", [["ruby", "def foo(x)\n  return 3\nend"]]],
    ["143", "~~~~    ruby startline=3 $%@#$\nx\n~~~~~~~", [["ruby startline=3 $%@#$", "x"]]],
    ["146", "~~~ aa ``` ~~~\nfoo\n~~~", [["aa ``` ~~~", "foo"]]],
    ["147", "```\n``` aaa\n```", [["", "``` aaa"]]],
    [
      "two",
      "a\n```x\n1\n```\nb\n```y\n2\n```\nc",
      [
        ["x", "1"],
        ["y", "2"],
      ],
    ],
    ["in a list", "1. It:\n\n    ```py\n    if x:\n        y\n    ```", [["py", "if x:\n    y"]]],
    ["of Windows", "```x\r\n1\r\n```\r\n", [["x", "1"]]],
  ])("%s", (_name, text, blocks) => {
    expect(fencedBlocks(text).map(({ info, text: body }) => [info, body])).toEqual(blocks);
  });

  it("says what stands alone", () => {
    const isAlone = (text: string) => fencedBlocks(text).map((block) => block.isAlone);
    expect(isAlone("\n```\n1\n```\n \n")).toEqual([true]);
    expect(isAlone("a\n```\n1\n```")).toEqual([false]);
    expect(isAlone("```\n1\n```\na")).toEqual([false]);
    expect(isAlone("```\n1\n```\n```\n2\n```")).toEqual([false, false]);
    expect(isAlone("```\n1")).toEqual([true]);
  });
});

describe("fencedCode", () => {
  const docs = 'def f():\n    """\n    ```\n    f()\n    ```\n    """';
  it.each([
    ["a fence in a docstring", `\`\`\`python\n${docs}\n\`\`\``, docs],
    ["four backticks", "````py\ns = '```'\n```\n````", "s = '```'\n```"],
    ["tildes", "~~~python\nx\n~~~", "x"],
    ["words behind the language", '```python title="a.py"\nx\n```', "x"],
    ["capitals", "```Python\nx\n```", "x"],
    ["another language behind it", "```python\nx\n```\n```text\n1\n```", "x"],
    ["the last one", "```python\nx\n```\n```python\ny\n```", "y"],
    ["no language", "```\nx\n```", "x"],
    ["no block", "x = 1", "x = 1"],
    ["no end", "```python\nx", "x"],
    ["a fence within a line", "s = '```python'", "s = '```python'"],
  ])("%s", (_name, text, program) => {
    expect(fencedCode(text, "python")).toBe(program);
  });
});
