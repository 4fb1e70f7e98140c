/** Test help: holds the gradients of an operation to central finite differences. */
import { createNormal, createRandom } from "../../src/util/random.ts";
import { createSession, type Tensor } from "../../src/engine/runtime.ts";
import { gradients } from "../../src/engine/graph/autodiff.ts";
import { Graph, type Operators, type Value } from "../../src/engine/graph/graph.ts";
import { multiply, sum } from "../../src/engine/graph/ops.ts";

export interface GradientCheck {
  /** Shapes of the differentiable inputs. */
  readonly shapes: readonly (readonly number[])[];
  /** Further inputs, fed as they are. */
  readonly fixed?: Readonly<Record<string, Tensor>>;
  readonly build: (
    inputs: readonly Value[],
    fixed: Readonly<Record<string, Value>>,
    graph: Graph,
  ) => Value;
  /** Values of input `i`; normal numbers by default. */
  readonly values?: (i: number, size: number, normal: () => number) => Float32Array;
}

/** Largest difference between analytic and numeric gradient, relative to the largest gradient. */
export async function gradientError(
  { shapes, fixed = {}, build, values }: GradientCheck,
  operators: Operators = "fused",
): Promise<number> {
  const graph = new Graph({ operators });
  const normal = createNormal(createRandom(7));
  const inputs = shapes.map((shape, i) => graph.input(`x${i}`, "float32", shape, true));
  const fixedValues = Object.fromEntries(
    Object.entries(fixed).map(([name, { data, shape }]) => {
      const dims = shape.map((dim, axis) => (axis === 0 ? `${name}_rows` : dim));
      return [name, graph.input(name, data instanceof Float32Array ? "float32" : "int64", dims)];
    }),
  );
  const y = build(inputs, fixedValues, graph);
  // A random direction, so that errors in single elements cannot cancel out.
  const direction = graph.input("direction", "float32", y.shape);
  const loss = sum(multiply(y, direction));
  graph.output("y", y);
  graph.output("loss", loss);
  for (const [i, gradient] of gradients(loss, inputs).entries()) graph.output(`g${i}`, gradient);
  const session = await createSession(graph.encode(), { threads: 1 });

  const size = (shape: readonly number[]): number => shape.reduce((n, dim) => n * dim, 1);
  const data = shapes.map((shape, i) =>
    values === undefined
      ? Float32Array.from({ length: size(shape) }, normal)
      : values(i, size(shape), normal),
  );
  const ySize = y.shape.map((dim) =>
    typeof dim === "number" ? dim : Object.values(fixed)[0]!.shape[0]!,
  );
  const directionData = Float32Array.from({ length: size(ySize) }, normal);
  const feeds = (): Record<string, Tensor> => ({
    ...fixed,
    direction: { data: directionData, shape: ySize },
    ...Object.fromEntries(data.map((d, i) => [`x${i}`, { data: d, shape: shapes[i]! }])),
  });
  const analytic = await session.run(feeds());
  // Summed in doubles: the difference of two 32-bit sums would drown in rounding.
  const lossAt = async (): Promise<number> => {
    const out = (await session.run(feeds()))["y"]!;
    return out.reduce((total, value, i) => total + value * directionData[i]!, 0);
  };
  let worst = 0;
  let largest = 0;
  const step = 1e-2;
  for (const [i, array] of data.entries()) {
    for (let j = 0; j < array.length; j++) {
      const original = array[j]!;
      array[j] = original + step;
      const up = await lossAt();
      array[j] = original - step;
      const down = await lossAt();
      array[j] = original;
      const numeric = (up - down) / (2 * step);
      worst = Math.max(worst, Math.abs(numeric - analytic[`g${i}`]![j]!));
      largest = Math.max(largest, Math.abs(numeric));
    }
  }
  await session.close();
  if (largest === 0) throw new Error("The gradient is zero everywhere, so nothing was checked.");
  return worst / largest;
}
