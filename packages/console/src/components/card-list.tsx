import { Button } from '@mantine/core';
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

export interface CardButtonProps {
  readonly label: string;
  /** What the card is about. Screen readers get it after the label. */
  readonly of: string;
  readonly onClick: () => void;
  readonly loading?: boolean;
  /** Whether it removes or ends something. */
  readonly isEnd?: boolean;
}

/** One action of a card. */
export function CardButton({ label, of, isEnd = false, ...others }: CardButtonProps) {
  const look = isEnd ? { variant: 'light', color: 'red' } : { variant: 'default' };
  return (
    <Button size="xs" {...look} {...others} aria-label={`${label}: ${of}`}>
      {label}
    </Button>
  );
}
