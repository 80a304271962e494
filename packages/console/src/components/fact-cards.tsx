import classes from './fact-cards.module.css';

export interface Fact {
  readonly name: string;
  readonly label: string;
  readonly text: string;
}

/** Labelled values, one card each. */
export function FactCards({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className={classes.facts}>
      {facts.map(({ name, label, text }) => (
        <div key={name}>
          <dt>{label}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}
