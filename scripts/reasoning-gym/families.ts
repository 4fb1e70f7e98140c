/** Families with short questions and short answers, and the options that make their tasks small. */

const short = { min_terms: 2, max_terms: 3, max_digits: 1 };

/** Options of reasoning-gym by family. */
export const families: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  chain_sum: short,
  letter_counting: { min_words: 1, max_words: 3 },
  calendar_arithmetic: { tasks: ["is_leap_year"], leap_year_range: 2000 },
  needle_haystack: { min_num_statements: 2, max_num_statements: 3 },
  products: { min_terms: 2, max_terms: 2, max_digits: 2 },
  gcd: { max_value: 60 },
  count_bits: { max_n: 4095 },
  simple_equations: { min_terms: 2, max_terms: 2, max_value: 9 },
  word_sequence_reversal: { min_words: 2, max_words: 2 },
  leg_counting: { min_animals: 1, max_animals: 1, max_instances: 40 },
  family_relationships: { min_family_size: 3, max_family_size: 3 },
  syllogism: {},
  number_filtering: {
    min_numbers: 2,
    max_numbers: 2,
    max_decimals: 0,
    min_value: -9,
    max_value: 9,
  },
  basic_arithmetic: {
    ...short,
    operators: ["+", "-"],
    allow_parentheses: false,
    allow_negation: false,
  },
  lcm: { max_value: 30 },
  count_primes: { max_n: 60 },
  fraction_simplification: { max_value: 20, max_factor: 5, styles: ["plain"] },
  aiw: {},
  word_sorting: { min_words: 2, max_words: 2 },
  isomorphic_strings: { min_string_length: 2, max_string_length: 3 },
  course_schedule: { min_num_courses: 3, max_num_courses: 4, max_cycle_length: 3 },
  ransom_note: {
    min_note_length: 1,
    max_note_length: 2,
    min_magazine_length: 2,
    max_magazine_length: 5,
  },
  self_reference: {},
};
