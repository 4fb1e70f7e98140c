/** pass@k: the probability that at least one of k rollouts is correct, from n of which c were. */

/**
 * Unbiased: 1 - C(n - c, k) / C(n, k), as a product that does not overflow (Chen et al. 2021,
 * arXiv:2107.03374). `k` from 1 to `n`.
 */
export function passAtK(n: number, right: number, k: number): number {
  if (n - right < k) return 1;
  let allWrong = 1;
  for (let i = n - right + 1; i <= n; i++) allWrong *= 1 - k / i;
  return 1 - allWrong;
}
