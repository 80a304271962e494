import { Link, type LinkProps } from '@tanstack/react-router';
import classes from './above.module.css';
import { Icon } from './icons.tsx';

/** Link to the parent page. */
export function Above({ children, ...link }: LinkProps & { children: string }) {
  return (
    <Link {...link} className={classes.above}>
      <Icon name="back" size={14} />
      {children}
    </Link>
  );
}
