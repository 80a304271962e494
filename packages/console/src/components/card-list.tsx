import type { ReactNode } from 'react';
import classes from './card-list.module.css';

/** A short list of cards. */
export function CardList({ children }: { children: ReactNode }) {
  return <ul className={classes.cards}>{children}</ul>;
}

/** One card: a description and its actions. */
export function Card({ name, about, actions }: { name: string; about: ReactNode; actions: ReactNode }) {
  return (
    <li className={classes.card} data-name={name}>
      <div className={classes.words}>{about}</div>
      {actions}
    </li>
  );
}
