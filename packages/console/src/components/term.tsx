import { type ReactNode, useId } from 'react';
import classes from './term.module.css';

/** A word with an explanation that shows while the pointer or the focus is on it. */
export function Term({ about, children }: { about: string; children: ReactNode }) {
  const id = useId();
  return (
    <span className={classes.term}>
      <button type="button" className={classes.word} aria-describedby={id}>
        {children}
      </button>
      <span role="tooltip" id={id} className={classes.about}>
        {about}
      </span>
    </span>
  );
}
