import { isJsonObject } from '../../../platform/json/json-object.ts';
import { resolvePointer } from './check-references.ts';

/**
 * Returns an output of a changed or sparse answer with an empty list where its schema wants a list, and null where it wants a number,
 * if the output has nothing, null or an empty text there. What fits stays the same object. Alternatives (`anyOf`,
 * `oneOf`) are left as they are.
 * @param document the root of the schema, for its references, none of which leads to itself for the same value
 */
export function completeOutput(value: unknown, schema: unknown, document: unknown = schema): unknown {
  if (!isJsonObject(schema)) return value;
  if (typeof schema.$ref === 'string') {
    return completeOutput(value, resolvePointer(schema.$ref, document), document);
  }
  const whole = Array.isArray(schema.allOf)
    ? schema.allOf.reduce((held: unknown, part) => completeOutput(held, part, document), value)
    : value;
  if (whole === null || whole === undefined || whole === '') return substituteFor(whole, schema.type);
  const complete = (member: unknown, name: string | number) =>
    completeOutput(member, Array.isArray(whole) ? schema.items : memberOf(schema.properties, String(name)), document);
  if (Array.isArray(whole)) {
    const items = whole.map(complete);
    return items.some((item, index) => item !== whole[index]) ? items : whole;
  }
  if (!isJsonObject(whole)) return whole;
  const absent = [schema.required ?? []].flat().filter((name) => !Object.hasOwn(whole, String(name)));
  const members = [...Object.entries(whole), ...absent.map((name) => [String(name), undefined] as const)];
  const changed = members.flatMap(([name, member]) => {
    const completed = complete(member, name);
    return completed === member ? [] : [[name, completed] as const];
  });
  return changed.length === 0 ? whole : { ...whole, ...Object.fromEntries(changed) };
}

/** @param value null, undefined or an empty text */
function substituteFor(value: unknown, type: unknown): unknown {
  if (type === 'array') return [];
  const types = [type].flat();
  const wantsNumber = (types.includes('number') || types.includes('integer')) && !types.includes('string');
  return wantsNumber ? null : value;
}

function memberOf(members: unknown, name: string): unknown {
  return isJsonObject(members) && Object.hasOwn(members, name) ? members[name] : undefined;
}
