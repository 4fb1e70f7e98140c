/** Families with short questions and short answers, and the options that make their tasks small. */

/** Options of reasoning-gym by family, those that are most likely learned first. */
export const families: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  time_intervals: { task_types: ["date"] },
  letter_counting: { min_words: 1, max_words: 3 },
  calendar_arithmetic: { tasks: ["is_leap_year"], leap_year_range: 2000 },
  complex_arithmetic: {
    min_real: -3,
    max_real: 3,
    min_imag: -3,
    max_imag: 3,
    operations: ["+"],
    operations_weights: [1],
  },
  spell_backward: { max_word_len: 4 },
  prime_factorization: { max_value: 3000 },
  gcd: { max_value: 60 },
  syllogism: {},
  count_bits: { max_n: 4095 },
  simple_equations: { min_terms: 2, max_terms: 2, max_value: 9 },
  family_relationships: { min_family_size: 3, max_family_size: 3 },
  leg_counting: { min_animals: 1, max_animals: 1, max_instances: 40 },
  number_filtering: {
    min_numbers: 2,
    max_numbers: 2,
    max_decimals: 0,
    min_value: -9,
    max_value: 9,
  },
  number_sequence: { min_terms: 4, max_terms: 4, min_value: 0, max_value: 20, max_complexity: 1 },
  chain_sum: { max_terms: 3, max_digits: 1 },
  count_primes: { max_n: 60 },
  ransom_note: {
    min_note_length: 1,
    max_note_length: 2,
    min_magazine_length: 2,
    max_magazine_length: 5,
  },
  maze: {},
};
