import classes from './spark-line.module.css';

const width = 200;
const height = 44;

/** A line chart without axes; the text beside it gives the value. */
export function SparkLine({ values }: { values: readonly number[] }) {
  const most = Math.max(...values, 0.000_001);
  const step = values.length > 1 ? width / (values.length - 1) : width;
  const points = values.map(
    (value, index) => `${(index * step).toFixed(1)},${(height - 3 - (value / most) * (height - 8)).toFixed(1)}`,
  );
  if (points.length < 2) return <div className={classes.line} aria-hidden="true" />;
  return (
    <svg className={classes.line} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      <polygon className={classes.area} points={`0,${height} ${points.join(' ')} ${width},${height}`} />
      <polyline className={classes.stroke} points={points.join(' ')} />
    </svg>
  );
}
