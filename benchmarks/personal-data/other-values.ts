/** Numbers and names that are nobody's, though they look like personal data. */
import type { Draw } from "./draw.ts";

const word = (draw: Draw): string =>
  draw.of("alpha core react vue lib server agent item user page".split(" "));

function withEan(digits: string): string {
  const sum = [...digits].reduce((all, digit, i) => all + Number(digit) * (i % 2 === 0 ? 1 : 3), 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

/** From 2001 to 2033, in units of a second divided by 10 to the power of `places`. */
const time = (draw: Draw, places: number): string =>
  String(draw.int(1_000_000_000, 1_999_999_999)) + draw.digits(places);

const uuid = (draw: Draw): string => [8, 4, 4, 4, 12].map((size) => draw.hex(size)).join("-");

export const otherValues: Readonly<Record<string, (draw: Draw) => string>> = {
  "seconds of the epoch": (draw) => time(draw, 0),
  "milliseconds of the epoch": (draw) => time(draw, 3),
  "microseconds of the epoch": (draw) => time(draw, 6),
  "nanoseconds of the epoch": (draw) => time(draw, 9),
  "seconds with a fraction": (draw) => `${time(draw, 0)}.${draw.digits(draw.int(3, 9))}`,
  dates: (draw) =>
    draw.form(
      draw.of([
        "2026-11-24",
        "24.11.2026",
        "11/24/2026",
        "20261124T103000Z",
        "2026-11-24 10:30:00.######",
        "2026-11-24T10:30:00+0100",
      ]),
    ),
  "order numbers": (draw) =>
    draw.form(
      draw.of([
        "ORD-2026-######",
        "#10######",
        "INV-20261124-####",
        "1##-#######-#######",
        "PO########",
        "SO-####-####",
        "##########",
        "RMA 7######",
        "000000####",
        "A-1000-####-####",
      ]),
    ),
  "parcel numbers": (draw) =>
    draw.form(
      draw.of([
        "1Z999AA1##########",
        "94## #### #### #### #### ##",
        "JD01##############",
        "RR#########DE",
        "00340434############",
      ]),
    ),
  versions: (draw) =>
    draw.of([
      () => draw.form("v#.##.#"),
      () => draw.form("version 1.#.#.#"),
      () => draw.form("Chrome/1##.0.0.0"),
      () => draw.form("v#.#.#.#"),
      () => draw.form("==1.#.#.#"),
      () => draw.form("1.#.#-rc.#"),
      () => draw.form("lib-1.#.#.#.jar"),
      () => draw.form("Version=1#.0.0.0"),
      () => draw.form("Safari/537.36"),
      () => draw.form("1.#.#.#.#"),
      () => draw.form("§ 1.#.#.#"),
    ])(),
  packages: (draw) =>
    draw.of([
      () => draw.form(`${word(draw)}@1.#.#`),
      () => draw.form(`@scope/${word(draw)}@^1.#.#`),
      () => draw.form(`${word(draw)}@1.#.#-beta.#`),
      () => `${word(draw)}@latest`,
      () => `git@github.com:org/${word(draw)}.git`,
      () => `${word(draw)}@2x.png`,
      () => `@${word(draw)}`,
      () => `${word(draw)}@sha256:${draw.hex(64)}`,
      () => `actions/checkout@v${draw.int(1, 5)}`,
    ])(),
  hashes: (draw) => draw.hex(draw.of([7, 32, 40, 64])),
  UUIDs: (draw) =>
    draw.of([
      uuid,
      (one: Draw) => uuid(one).replaceAll(/[a-f]/gu, "4"),
      (one: Draw) => uuid(one).toUpperCase(),
    ])(draw),
  coordinates: (draw) =>
    draw.form(
      draw.of([
        "52.######, 13.######",
        "-33.##########, 151.##########",
        "48°51'##.#\"N",
        "[2.35####, 48.85####]",
      ]),
    ),
  fractions: (draw) =>
    draw.of([
      () => `0.${draw.digits(16)}`,
      () => `0.${draw.digits(15)}`,
      () => `-${draw.int(0, 99)}.${draw.digits(14)}`,
      () => `${draw.int(1, 9)}.${draw.digits(16)}e-${draw.int(1, 12)}`,
    ])(),
  money: (draw) =>
    draw.form(
      draw.of(["1,234,5##.##", "12.345,## €", "$4,###,###", "4 ### ### ###", "USD 12##.00"]),
    ),
  "numbers of books and products": (draw) =>
    draw.of([
      () => withEan(`978${draw.digits(9)}`),
      () => draw.form("978-3-16-######-#"),
      () => withEan(`4${draw.digits(11)}`),
      () => draw.form("0-306-#####-#"),
    ])(),
  "numbers of devices": (draw) =>
    draw.of([
      () => draw.hex(12).match(/../gu)!.join(":"),
      () => draw.hex(12).match(/../gu)!.join("-"),
      () => `35${draw.digits(13)}`,
      () => `8949${draw.digits(16)}`,
    ])(),
  "ids of posts": (draw) => `${draw.int(10, 19)}${draw.digits(17)}`,
  "ids of 16 digits": (draw) => draw.int(1, 9) + draw.digits(15),
  "ids of 64 bits": (draw) => (BigInt(`0x${draw.hex(16)}`) || 1n).toString(),
  "lists of numbers": (draw) =>
    Array.from({ length: draw.int(6, 12) }, () =>
      String(draw.int(1, draw.of([9, 99, 999, 9999]))),
    ).join(draw.of([" ", ", ", " | ", "-"])),
  ranges: (draw) =>
    draw.form(
      draw.of(["100-200-3###", "1-10", "10-20-30", "pages 120-13#", "2024-2026", "12-34-5678"]),
    ),
  times: (draw) => draw.form(draw.of(["10:30:##", "00:11:##.###", "1:2:3:4", "10:30-11:45"])),
  code: (draw) =>
    draw.of([
      () => `std::vec${draw.int(1, 9)}`,
      () => "abc::def",
      () => `face::b${draw.int(1, 9)}`,
      () => `items[::${draw.int(1, 3)}]`,
      () => `items[${draw.int(1, 9)}::2]`,
      () => "a::b1::c2",
      () => "x@w.mean(0)",
      () => "@app.route",
      () => `0x${draw.hex(16)}`,
      () => `#${draw.hex(6)}`,
      () => `1_000_000`,
      () => `f(${draw.int(10, 99)}, ${draw.digits(5)})`,
      () => `rgb(${draw.int(0, 255)}, ${draw.int(0, 255)}, 0)`,
      () => `+${draw.int(1, 9999)}`,
    ])(),
};
