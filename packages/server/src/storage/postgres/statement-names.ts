import pg from 'pg';

/**
 * Names for statements that repeat. A connection of PostgreSQL parses and plans a named statement once, which takes longer
 * than to execute it.
 */
export interface StatementNames {
  /** @returns undefined for a statement that is sent without a name */
  find(text: string): string | undefined;
  /** Whether the error comes from a name. No statement gets one from then on, so it can be sent again. */
  isRefusal(error: unknown): boolean;
}

/** A statement gets a name at this use. Many texts are used once, because each length of a list has its own. */
const namedUse = 3;
/** The plans of a connection take a few KiB of the server's memory each. */
const mostNames = 200;
/** Statements that are counted at the same time. */
const mostCounted = 200;
/** Characters of a statement. */
const longest = 8_192;

export function createStatementNames(): StatementNames {
  const names = new Map<string, string>();
  const uses = new Map<string, number>();
  let isRefused = false;

  function count(text: string): string | undefined {
    const counted = (uses.get(text) ?? 0) + 1;
    if (counted < namedUse) {
      if (uses.size >= mostCounted) uses.clear();
      uses.set(text, counted);
      return undefined;
    }
    uses.delete(text);
    const name = `q${names.size}`;
    names.set(text, name);
    return name;
  }
  return {
    find(text) {
      if (isRefused || text.length > longest) return undefined;
      const name = names.get(text);
      return name === undefined && names.size < mostNames ? count(text) : name;
    },
    isRefusal(error) {
      const isRefusal = error instanceof pg.DatabaseError && concernsName(error);
      isRefused ||= isRefusal;
      return isRefusal;
    },
  };
}

/**
 * A pooler shares connections although it accepts the start-up options, so that the name is unknown or taken; or a newer
 * version of the service has added a column to a table.
 */
function concernsName({ code, message }: pg.DatabaseError): boolean {
  return code === '26000' || code === '42P05' || (code === '0A000' && message.startsWith('cached plan'));
}
