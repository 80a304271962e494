import { metaKeys } from './meta-keys.ts';

const maxIgnored = 10;
const maxNameLength = 60;

/** The member of a result that names the arguments which its tool does not have. Clients add some, such as a reason. */
export function ignoredArguments(
  sent: Readonly<Record<string, unknown>>,
  known: object,
): { readonly _meta?: Record<string, string[]> } {
  const unknown = Object.keys(sent).filter((argument) => !Object.hasOwn(known, argument));
  if (unknown.length === 0) return {};
  const names = unknown.slice(0, maxIgnored).map((argument) => argument.slice(0, maxNameLength).toWellFormed());
  return { _meta: { [metaKeys.ignoredArguments]: names } };
}
