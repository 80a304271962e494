/** Converts a name to the form of bundle and plugin ids: `chat.postMessage` → `chat_post_message`. */
export function snakeCase(text: string): string {
  const words = snakeWords(text);
  return (/^[a-z]/.test(words) ? words : `op_${words}`).slice(0, 64).replace(/_$/, '');
}

/** The same for names that are shortened later. */
export function snakeWords(text: string): string {
  return text
    .slice(0, 500)
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');
}

/** Converts a name to a description for elements without one: `date_created` → `Date created`. */
export function humanised(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[^A-Za-z0-9]+/g, ' ')
    .trim()
    .toLowerCase();
  return words === '' ? 'Value' : words.charAt(0).toUpperCase() + words.slice(1);
}

/** Converts a name to a property name: `filter[name]` → `filter_name`. */
export function propertyName(name: string): string {
  const plain = trimUnderscores(name.replace(/[^A-Za-z0-9_.-]+/g, '_'));
  return (plain === '' ? 'value' : plain).slice(0, 64);
}

function trimUnderscores(name: string): string {
  let [start, end] = [0, name.length];
  while (name[start] === '_') start += 1;
  while (end > start && name[end - 1] === '_') end -= 1;
  return name.slice(start, end);
}

/** Returns a plugin id that no other plugin has. `bundle.yaml` and the names of `Object.prototype` get a number. */
export function freePluginId(wanted: string, taken: ReadonlyMap<string, unknown>): string {
  return freeName(wanted, (id) => taken.has(id) || id === 'bundle' || id in Object.prototype);
}

/** Returns the first of `name`, `name_2`, `name_3` … that is not taken. `from` is the first number. */
export function freeName(name: string, isTaken: (name: string) => boolean, from = 2): string {
  let free = name;
  for (let count = Math.max(2, from); isTaken(free); count += 1)
    free = `${name.slice(0, 64 - String(count).length - 1)}_${count}`;
  return free;
}
