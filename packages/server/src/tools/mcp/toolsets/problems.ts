import { Problem } from '../../../platform/problem.ts';
import { quoteText } from '../../../platform/quote-text.ts';

/** A tool that calls other tools named one that the endpoint does not have. */
export function toolUnknown(name: string): Problem {
  return new Problem('OBJECT_NOT_FOUND', `Unknown tool: ${quoteText(name)}. Find the name with search_tools.`);
}

/** A tool that changes something cannot be called through the tool for reading. */
export function readToolRefused(name: string, instead: string): Problem {
  return new Problem(
    'INVALID_REQUEST',
    `The tool ${quoteText(name)} may change something, so it cannot run as a tool that only reads. Call it with ${instead}.`,
  );
}
