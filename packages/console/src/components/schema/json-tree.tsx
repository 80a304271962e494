import classes from './json-tree.module.css';

/** The maximum number of members shown. The rest is shown as a count. */
const mostMembers = 200;

/** A JSON value as a tree; nested parts are collapsed. */
export function JsonTree({ value, name, depth = 0 }: { value: unknown; name?: string; depth?: number }) {
  if (typeof value !== 'object' || value === null) {
    return (
      <div className={classes.leaf}>
        {name === undefined ? null : <span className={classes.name}>{name}: </span>}
        <span data-kind={value === null ? 'null' : typeof value} className={classes.value}>
          {JSON.stringify(value) ?? 'undefined'}
        </span>
      </div>
    );
  }
  const members = Object.entries(value);
  const isList = Array.isArray(value);
  return (
    <details className={classes.branch} open={depth < 3 && members.length <= 50}>
      <summary>
        {name === undefined ? null : <span className={classes.name}>{name}: </span>}
        {isList ? `[${members.length}]` : `{${members.length}}`}
      </summary>
      <div className={classes.members}>
        {members.slice(0, mostMembers).map(([key, member]) => (
          <JsonTree key={key} name={key} value={member} depth={depth + 1} />
        ))}
        {members.length > mostMembers ? <div>… {members.length - mostMembers}</div> : null}
      </div>
    </details>
  );
}

/** The same tree in a box that scrolls. */
export function JsonBox({ value, label, testId }: { value: unknown; label: string; testId?: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section className={classes.box} tabIndex={0} aria-label={label} data-testid={testId}>
      <JsonTree value={value} />
    </section>
  );
}
