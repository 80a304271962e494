import type { AnswerKeyRepository } from '../../tools/execution/answer-key-repository.ts';
import type { Database } from '../database/database.ts';

/** Stores the secret of the keyed hashes in either database. */
export function createAnswerKeyRepository({ write }: Database): AnswerKeyRepository {
  const find = async () => (await write.selectFrom('answer_key').select('secret').executeTakeFirst())?.secret;
  return {
    find,
    async add(secret) {
      await write
        .insertInto('answer_key')
        .values({ one: 1, secret })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      return (await find()) ?? secret;
    },
  };
}
