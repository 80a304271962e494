import { sql } from 'kysely';
import { type RateLimitRepository, rateWindows } from '../../platform/admission/rate-rules.ts';
import type { Database } from '../database/database.ts';
import { areAtLeast, lockProject } from '../database/row-limit.ts';
import { fromRow, toRow } from '../database/row-names.ts';
import { nextChange } from './project-repository.ts';

/** A process that crashes loses at most this much of a limit. */
const largestPortion = 1000;

/** Stores rate limits and their counts in either database. A change of the rules is a change of keys, which every process notices. */
export function createRateLimitRepository({
  read,
  write,
  dialect,
}: Pick<Database, 'read' | 'write' | 'dialect'>): RateLimitRepository {
  const [least, greatest] = (dialect === 'postgres' ? ['least', 'greatest'] : ['min', 'max']).map((name) =>
    sql.raw(name),
  );
  return {
    listRules: async (projectId) => {
      const rules = read.selectFrom('rate_limit').selectAll().orderBy('id');
      const rows = await (projectId === undefined ? rules : rules.where('project_id', '=', projectId)).execute();
      return rows.map(fromRow);
    },
    addRule: (rule, most) =>
      write.transaction().execute(async (transaction) => {
        await nextChange(transaction);
        await lockProject(transaction, dialect, rule.projectId);
        const { projectId, subjectId } = rule;
        for (const table of subjectId === null ? [] : (['api_key', 'oauth_grant'] as const)) {
          const subject = transaction.selectFrom(table).select('id').where('id', '=', subjectId);
          if ((await subject.where('project_id', '=', projectId).executeTakeFirst()) !== undefined) break;
          if (table === 'oauth_grant') return 'unknown_subject';
        }
        const rules = transaction.selectFrom('rate_limit').select('id').where('project_id', '=', projectId);
        if (await areAtLeast(rules.orderBy('id'), most)) return 'full';
        await transaction.insertInto('rate_limit').values(toRow(rule)).execute();
        return 'added';
      }),
    removeRule: (projectId, ruleId) =>
      write.transaction().execute(async (transaction) => {
        await nextChange(transaction);
        const rule = transaction.deleteFrom('rate_limit').where('project_id', '=', projectId).where('id', '=', ruleId);
        return (await rule.executeTakeFirst()).numDeletedRows === 1n;
      }),
    take: async ({ ruleId, subjectId, window, limit, start, wanted }) => {
      const whole = (value: number) => sql<number>`cast(${value} as bigint)`;
      const end = start + rateWindows[window] * 1000;
      const portionOf = (free: ReturnType<typeof whole>) =>
        sql`${least}(${free}, ${greatest}(${whole(wanted)}, ${least}(${free} / 10, ${whole(largestPortion)})))`;
      const isPresent = sql`rate_usage.window_start between ${whole(start)} and ${whole(end)}`;
      const counted = sql`case when ${isPresent} then rate_usage.count else 0 end`;
      const portion = portionOf(sql<number>`(${whole(limit)} - ${counted})`);
      const { rows } = await sql<{ window_start: number; count: number; portion: number }>`
        insert into rate_usage (rate_limit_id, subject_id, kind, project_id, window_start, count, portion)
        select id, cast(${subjectId} as text), cast(${window} as text), project_id, ${whole(start)},
          ${portionOf(whole(limit))}, ${portionOf(whole(limit))} from rate_limit where id = ${ruleId}
        on conflict (rate_limit_id, subject_id, kind) do update set
          window_start = case when ${isPresent} then rate_usage.window_start else ${whole(start)} end,
          count = ${counted} + ${portion}, portion = ${portion}
          where ${counted} < ${whole(limit)}
        returning window_start, count, portion`.execute(write);
      const [row] = rows;
      if (row === undefined) return undefined;
      return { start: Number(row.window_start), count: Number(row.count), portion: Number(row.portion) };
    },
    returnUnused: async ({ ruleId, subjectId, window, start }, amount) => {
      await sql`update rate_usage set count = count - ${amount} where rate_limit_id = ${ruleId} and subject_id = ${subjectId}
        and kind = ${window} and window_start = ${start}`.execute(write);
    },
    listUsage: async (projectId, subjectId) => {
      const counts = read.selectFrom('rate_usage').selectAll().where('project_id', '=', projectId);
      const rows = await counts.where('subject_id', '=', subjectId).execute();
      return rows.map(({ rate_limit_id: ruleId, kind: window, window_start: start, count }) => {
        return { ruleId, subjectId, window, start, count };
      });
    },
    sweep: async (before) => {
      await write.deleteFrom('rate_usage').where('window_start', '<', before).execute();
    },
  };
}
