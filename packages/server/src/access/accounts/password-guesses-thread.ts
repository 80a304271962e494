import { parentPort, workerData } from 'node:worker_threads';
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import * as common from '@zxcvbn-ts/language-common';
import * as english from '@zxcvbn-ts/language-en';
import type { GuessesQuestion } from './password-policy.ts';

/** Phrases that are known as examples of good passwords. */
const examples = ['correcthorsebatterystaple', 'thequickbrownfoxjumpsoverthelazydog', 'tobeornottobethatisthequestion'];

const { passwords, words } = workerData as GuessesQuestion; // sent by guessesOf
const zxcvbn = new ZxcvbnFactory({
  dictionary: { ...common.dictionary, ...english.dictionary, examples },
  graphs: common.adjacencyGraphs,
});
parentPort?.postMessage(Math.min(...passwords.map((password) => zxcvbn.check(password, [...words]).guesses)));
