/** A text of the same length in which digits, spaces, hyphens and full-width signs of all scripts are those of ASCII. */

/** Spaces; hyphens and dashes; ASCII in full width; digits of Arabic, Persian, Devanagari, Bengali and Thai. */
const signs =
  /[\u00a0\u1680\u2000-\u200d\u202f\u205f\u2060\u3000\ufeff]|[\u2010-\u2015\u2212]|[\uff01-\uff5e]|[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u09e6-\u09ef\u0e50-\u0e59]|%20/gu;

const zeros = [0x660, 0x6f0, 0x966, 0x9e6, 0xe50];

function plainSign(sign: string): string {
  if (sign === "%20") return "   ";
  const code = sign.charCodeAt(0);
  if (code >= 0xff01 && code <= 0xff5e) return String.fromCharCode(code - 0xfee0);
  const zero = zeros.find((first) => code >= first && code < first + 10);
  if (zero !== undefined) return String(code - zero);
  return (code >= 0x2010 && code <= 0x2015) || code === 0x2212 ? "-" : " ";
}

export const plainSigns = (text: string): string => text.replaceAll(signs, plainSign);
