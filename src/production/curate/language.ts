/** The language of a text, by its script and its most common words: enough for a report, not for a decision. */

const scripts: readonly (readonly [string, RegExp])[] = [
  ["ja", /[\p{sc=Hiragana}\p{sc=Katakana}]/gu],
  ["ko", /\p{sc=Hangul}/gu],
  ["zh", /\p{sc=Han}/gu],
  ["ru", /\p{sc=Cyrillic}/gu],
  ["ar", /\p{sc=Arabic}/gu],
  ["he", /\p{sc=Hebrew}/gu],
  ["el", /\p{sc=Greek}/gu],
  ["hi", /\p{sc=Devanagari}/gu],
  ["th", /\p{sc=Thai}/gu],
];

const common: Readonly<Record<string, string>> = {
  en: "the and is of to in that it for you not with are this was have what can how my do i",
  de: "der die das und ist nicht ein eine zu den mit ich sie auf für wie von kann es mein im",
  fr: "le la les et est pas un une des que je vous dans pour qui sur avec ce mon il du",
  es: "el la los y es no un una de que en por para con mi se lo como está yo del",
  pt: "o a os e é não um uma de que em por para com meu se como está eu do da",
  it: "il la e è non un una di che in per con mio si come sono io del gli lo",
  nl: "de het een en is niet van ik dat op te voor met zijn hoe wat mijn je er",
  pl: "i w nie na się z do to jest że jak co mój o za po od czy",
  sv: "och är att det inte en ett jag som på för med hur vad min kan till av",
  tr: "ve bir bu için ne de da mi ile ben çok nasıl var değil benim",
};

const words = new Map<string, string[]>();
for (const [language, list] of Object.entries(common))
  for (const word of list.split(" ")) words.set(word, [...(words.get(word) ?? []), language]);

const sampleChars = 2000;

/** A code of ISO 639-1, or "other". */
export function languageOf(text: string): string {
  const sample = text.slice(0, sampleChars).toLowerCase();
  const letters = sample.match(/\p{L}/gu)?.length ?? 0;
  if (letters === 0) return "other";
  for (const [language, script] of scripts)
    if ((sample.match(script)?.length ?? 0) > 0.2 * letters) return language;
  const votes = new Map<string, number>();
  for (const word of sample.match(/\p{L}+/gu) ?? [])
    for (const language of words.get(word) ?? [])
      votes.set(language, (votes.get(language) ?? 0) + 1);
  const [best] = [...votes].toSorted(([, a], [, b]) => b - a);
  return best?.[0] ?? "other";
}
