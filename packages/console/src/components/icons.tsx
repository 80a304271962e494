/** Line icons on a grid of 24, in the colour of the text, hidden from screen readers. */
const paths = {
  overview: 'M4 13h6V4H4zM14 20h6V11h-6zM4 20h6v-4H4zM14 8h6V4h-6z',
  files: 'M14 3H6v18h12V7zM14 3v4h4M9 13h6M9 17h6',
  collections: 'M4 6c0-4 16-4 16 0v12c0 4-16 4-16 0zM4 6c0 4 16 4 16 0M4 12c0 4 16 4 16 0',
  catalogue: 'M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM16.5 13v7M13 16.5h7',
  runs: 'M3 12h4l3-8 4 16 3-8h4',
  settings: 'M14 7a4 4 0 1 0 0 .01zM11 10l-8 8v3h3l1-1v-2h2v-2h2l1.500-1.500',
  docs: 'M5 4h10a4 4 0 0 1 4 4v12H9a4 4 0 0 1-4-4zM9 9h6M9 13h4',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M5 13l4 4L19 7',
  close: 'M6 6l12 12M18 6L6 18',
  upload: 'M12 16V4M7 9l5-5 5 5M4 16v4h16v-4',
  download: 'M12 4v12M7 11l5 5 5-5M4 16v4h16v-4',
  pause: 'M8 5v14M16 5v14',
  play: 'M7 4l13 8-13 8z',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v6M14 11v6',
  search: 'M10.500 4a6.500 6.500 0 1 0 .01 0M15.500 15.500L21 21',
  plus: 'M12 5v14M5 12h14',
  refresh: 'M20 11a8 8 0 1 0-2 6M20 4v7h-7',
  sun: 'M12 8a4 4 0 1 0 .01 0M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.500 1.500M17.500 17.500L19 19M5 19l1.500-1.500M17.500 6.500L19 5',
  moon: 'M20 14A8 8 0 1 1 10 4a7 7 0 0 0 10 10z',
  signOut: 'M10 4H5v16h5M15 8l4 4-4 4M19 12H9',
  warning: 'M12 4l9 16H3zM12 10v4M12 17v.500',
  key: 'M15 9a4 4 0 1 0 .01 0M11 12l-8 8M6 17l3 3',
  back: 'M15 5l-7 7 7 7',
  next: 'M9 5l7 7-7 7',
  people: 'M9 4a4 4 0 1 0 .01 0M2 20c0-8 14-8 14 0M16 4a4 4 0 0 1 0 8M18 14c3 1 4 3 4 6',
  globe: 'M12 3a9 9 0 1 0 .01 0M3 12h18M12 3c-5 5-5 13 0 18M12 3c5 5 5 13 0 18',
  menu: 'M4 6h16M4 12h16M4 18h16',
} as const;
export type IconName = keyof typeof paths;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={paths[name]} />
    </svg>
  );
}
