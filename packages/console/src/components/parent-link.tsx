import { Link, type LinkProps } from '@tanstack/react-router';
import { Icon } from './icons.tsx';
import classes from './parent-link.module.css';

/** Link to the parent page. */
export function ParentLink({ children, ...link }: LinkProps & { children: string }) {
  return (
    <Link {...link} className={classes.link}>
      <Icon name="back" size={14} />
      {children}
    </Link>
  );
}
