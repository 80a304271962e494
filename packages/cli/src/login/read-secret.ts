import { CommandError, exitCodes } from '../exit-codes.ts';

const mostCharacters = 65_536;
const [interrupt, endOfInput, backspace, erase] = ['\u0003', '\u0004', '\u0008', '\u007f'];

/** Reads a secret: from a terminal after a question and without echo, otherwise all of standard input. */
export async function readSecret(question: string): Promise<string> {
  return process.stdin.isTTY ? await askOnTerminal(question) : await readBounded(process.stdin);
}

/** @throws CommandError when the input is too long for a secret */
export async function readBounded(input: AsyncIterable<Buffer | string>): Promise<string> {
  let text = '';
  for await (const part of input) {
    text += part;
    if (text.length > mostCharacters)
      throw new CommandError(
        exitCodes.usage,
        `Standard input is longer than ${mostCharacters} characters. Send nothing but the secret.`,
      );
  }
  return text;
}

/** In raw mode the terminal shows nothing and sends each key, also Ctrl-C. */
async function askOnTerminal(question: string): Promise<string> {
  const { stdin, stderr } = process;
  stdin.setRawMode(true);
  stdin.setEncoding('utf8');
  // After the echo is off, because a key may be pasted as soon as the question is seen.
  stderr.write(question);
  let typed = '';
  try {
    for await (const part of stdin) {
      for (const character of String(part)) {
        if (character === '\r' || character === '\n') return typed;
        if (character === interrupt || character === endOfInput)
          throw new CommandError(
            exitCodes.usage,
            'No API key was entered, so nothing was stored. Run the command again, or name the file of the key with --key-file.',
          );
        if (character === backspace || character === erase) typed = typed.slice(0, -1);
        else if (typed.length < mostCharacters) typed += character;
      }
    }
    return typed;
  } finally {
    stdin.setRawMode(false);
    stderr.write('\n');
  }
}
