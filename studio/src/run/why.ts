/** Why a run was as fast as it was, in sentences. */

/** The account of a run: a sentence, and flows, the slowest first, each with its sentences. */
export interface Account {
  headline: string;
  flows: [name: string, sentences: string[]][];
}
