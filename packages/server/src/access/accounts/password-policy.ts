import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { passwordBounds } from '@quartermaster/contract';
import { moduleUrl } from '../../platform/server-process/module-path.ts';
import { passwordNotChecked, passwordRefused } from './problems.ts';

/**
 * Words that occur in leaked passwords. Digits, signs and doubled letters are removed from a password. The rest must
 * be more than one or two of these words. This test replaces the list of leaked passwords itself.
 */
const commonWords = new Set(
  `admin account root password passwort passwd motdepasse contrasena senha parola login welcome willkommen hello
  letmein letme master monkey dragon football baseball basketball soccer hockey superman batman spiderman pokemon starwars
  princess sunshine shadow michael jennifer jessica ashley charlie daniel thomas jordan andrew robert iloveyou iloveu
  loveyou love lovely secret changeme change default guest test testing tester trustno one access flower summer winter
  spring autumn whatever freedom computer internet server service system oracle database microsoft windows google
  facebook linkedin twitter apple samsung qwerty qwertz azerty asdf asdfgh zxcvb zxcvbn qazwsx quartermaster console
  company business office hunter killer ninja mustang harley corvette ferrari mercedes yankees cowboys eagles chelsea
  liverpool arsenal barcelona cheese cookie chocolate banana orange purple yellow silver golden diamond angel angels
  forever family friends mother father sister brother january february march april june july august september october
  november december monday tuesday wednesday thursday friday saturday sunday abc abcd abcde abcdef iamthebest please
  me my the is a i you no yes go new old big user pass word key keys`.split(/\s+/),
);
/** An attacker with a stolen hash makes more than this number of guesses per day. */
const leastGuesses = 1e10;
const rows = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890',
  'qwertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  'qwertzuiop',
  'azertyuiop',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm',
];

/**
 * Checks the length of a password and refuses passwords that are easy to guess. The rules above and zxcvbn's lists of
 * leaked passwords, words and names decide. There is no rule about kinds of characters, and nothing is truncated.
 * @param field the position in the body
 * @throws Problem REQUEST_VALIDATION_ERROR, which never contains the password
 */
export async function checkPassword(password: string, name: string, field = 'password'): Promise<void> {
  const { least, most, advised } = passwordBounds;
  const { length } = [...password];
  if (length < least || length > most) {
    throw passwordRefused(
      field,
      `${length} characters`,
      `${least} to ${most} characters long (${advised} or more are recommended)`,
    );
  }
  if (isGuessable(password, name) || (await guessesOf(password, name)) < leastGuesses) {
    throw passwordRefused(
      field,
      'a password that is easy to guess or known from leaks',
      'hard to guess, such as several unrelated words',
    );
  }
}

function isGuessable(password: string, name: string): boolean {
  const lower = password.normalize('NFKC').toLowerCase();
  if (new Set(lower).size < 5) return true;
  const plain = withoutRuns(lower.replaceAll(name.toLowerCase(), ''));
  const letters = plain.replace(/\P{L}/gu, '');
  if (consistsOfCommonWords(unleet(plain).replace(/\P{L}/gu, ''))) return true;
  return letters.length >= 4 && consistsOfCommonWords(letters);
}

function consistsOfCommonWords(letters: string): boolean {
  return [...leftOver(letters)].length < 4;
}

/** Removes runs along the alphabet or the keyboard in either direction, and repeats. */
function withoutRuns(text: string): string {
  let rest = text;
  for (const row of rows.flatMap((line) => [line, [...line].reverse().join('')])) {
    for (let length = Math.min(row.length, rest.length); length >= 4; length--) {
      for (let start = 0; start + length <= row.length; start++) {
        rest = rest.replaceAll(row.slice(start, start + length), ' ');
      }
    }
  }
  return withoutRepeatedHalf(rest.replace(/(.{1,6}?)\1{2,}/gu, '$1'));
}

/** Reduces `daviddavid` to `david`. */
function withoutRepeatedHalf(text: string): string {
  const half = text.slice(0, text.length / 2);
  return [...half].length >= 4 && half + half === text ? half : text;
}

const leet: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

function unleet(text: string): string {
  return text.replace(/[0134578@$!]/g, (sign) => leet[sign] ?? sign);
}

/** @returns the text without its longest common words, at most two */
function leftOver(letters: string): string {
  let rest = letters;
  for (let taken = 0; taken < 2; taken++) {
    let longest = '';
    for (const word of commonWords) if (word.length > longest.length && rest.includes(word)) longest = word;
    rest = rest.replaceAll(longest === '' ? '\0' : longest, '');
  }
  return rest;
}

/** The input of the thread. */
export interface GuessesQuestion {
  readonly passwords: readonly string[];
  /** Words that an attacker tries first in this installation. */
  readonly words: readonly string[];
}

/**
 * The time for an estimate grows with the square of the length. A password whose first characters are strong is strong.
 */
const longest = 64;
const memoryMb = 256;
/** A password of 64 characters takes 1 to 2.5 s, and up to 10 s on a busy machine. */
const timeLimitMs = 60_000;

/**
 * Returns the number of guesses that zxcvbn expects for a password. It runs in a thread that ends afterwards: the lists
 * take 80 MB and a second to load, and passwords are chosen rarely.
 * @param limitMs milliseconds after which the thread ends
 * @throws Problem SERVICE_UNAVAILABLE when it takes longer
 */
export async function guessesOf(password: string, name: string, limitMs = timeLimitMs): Promise<number> {
  const start = [...password.normalize('NFKC')].slice(0, longest).join('');
  const question: GuessesQuestion = {
    passwords: [start, start.replace(/[ ._-]/g, '')],
    words: [name, 'quartermaster', 'console', 'administrator'],
  };
  const worker = new Worker(moduleUrl(import.meta, './password-guesses-thread'), {
    workerData: question,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
  });
  const ended = once(worker, 'exit').then(() => {
    throw new Error('The thread that estimates guesses ended without an answer.');
  });
  const limit = AbortSignal.timeout(limitMs);
  try {
    const message = once(worker, 'message', { signal: limit });
    const [guesses] = (await Promise.race([message, ended])) as [number]; // as the thread posts it
    return guesses;
  } catch (error) {
    throw limit.aborted ? passwordNotChecked(limitMs / 1000) : error;
  } finally {
    await worker.terminate();
  }
}
