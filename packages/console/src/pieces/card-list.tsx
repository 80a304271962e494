import type { ReactNode } from 'react';
import classes from './card-list.module.css';

/** Things of which there are few, one below the other. */
export function CardList({ children }: { children: ReactNode }) {
  return <ul className={classes.cards}>{children}</ul>;
}

/** One of them: what it is, and what can be done with it. */
export function Card({ name, about, actions }: { name: string; about: ReactNode; actions: ReactNode }) {
  return (
    <li className={classes.card} data-name={name}>
      <div className={classes.words}>{about}</div>
      {actions}
    </li>
  );
}
