import classes from './chart.module.css';

const width = 200;
const height = 44;

export interface ChartProps {
  readonly values: readonly number[];
  /** The time of each value in milliseconds. */
  readonly at: readonly number[];
  readonly format: (value: number) => string;
  /** What the first point of time is called, and the last. */
  readonly times: readonly [first: string, last: string];
  /** Describes the chart for screen readers. */
  readonly label: string;
}

/** A line chart from zero to the highest value, with the ends of both axes. */
export function LineChart({ values, at, format, times, label }: ChartProps) {
  if (values.length < 2) return <div className={classes.chart} />;
  const most = Math.max(...values);
  const [first = 0, last = 0] = [at[0], at.at(-1)];
  const scale = width / (last - first || 1);
  const points = values
    .map(
      (value, index) =>
        `${(((at[index] ?? last) - first) * scale).toFixed(1)},${(height - (value / (most || 1)) * (height - 2)).toFixed(1)}`,
    )
    .join(' ');
  return (
    <div className={classes.chart} role="img" aria-label={label}>
      <span className={classes.high}>{format(most)}</span>
      <span className={classes.low}>{format(0)}</span>
      <svg className={classes.line} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        <polygon className={classes.area} points={`0,${height} ${points} ${width},${height}`} />
        <polyline className={classes.stroke} points={points} />
      </svg>
      <span className={classes.first}>{times[0]}</span>
      <span className={classes.last}>{times[1]}</span>
    </div>
  );
}
