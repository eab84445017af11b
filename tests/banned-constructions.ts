/** Constructions that readers have to read twice, and what to write instead. */
interface Construction {
  readonly pattern: RegExp;
  readonly instead: string;
  /** Occurrences that the source still had when this was counted. The number may fall and never rise. */
  readonly inSource: number;
}

const verbs =
  'has|is|asks|lost|shows|sends|comes|gets|wants|holds|may|knows|reads|writes|cannot|stands|makes|takes|gives|says';

const phrase = (words: string, instead: string, inSource: number): Construction => ({
  pattern: new RegExp(`\\b(?:${words})\\b`, 'i'),
  instead,
  inSource,
});

export const constructions: readonly Construction[] = [
  {
    pattern: new RegExp(`(?:^|[^\\w\`"']\\s*)(?:Who|Whoever|What) (?:${verbs})\\b(?!.*\\?)`),
    instead: 'a named subject: "a client that lost the response"',
    inSource: 34,
  },
  phrase('is told|are told', '"receives", "is logged", "is reported to"', 6),
  phrase('out of reach|in reach|within reach', '"unavailable", "does not respond"', 0),
  phrase('comes of|came of|come of', '"results from"', 2),
  phrase('to be had', '"available"', 0),
  phrase('goes on with|is gone on with', '"continues", "completes"', 1),
  phrase('let in|lets in', '"accepted", "accepts"', 6),
  phrase('stands in', '"is in", "is part of"', 9),
  phrase('has come|have come', '"has arrived", "exists"', 3),
  phrase('turned away', '"rejected"', 0),
  phrase('is nobody', 'a named subject', 0),
  phrase('at fault', '"wrong", "invalid"', 3),
  phrase('all the same', '"nevertheless"', 1),
  phrase('by now', '"already"', 0),
  phrase('for ever', '"permanently"', 0),
];

/** The name of a test, step or group without a subject: "who asks again gets the same". */
export const headlessName = /\b(?:test|describe|step|inOrder)\S*\(\s*['"`](?:who|whoever|what)\b/i;

/** Lines of tests/ with a banned construction or a headless name. The number may fall and never rise. */
export const mostInTests = 5;
