/** Fewer points of a line than it has samples, without the loss of a spike. */

/** The first and the last time of each part. */
export function ends(time: number[], buckets: number): number[] {
  return parts(time.length, buckets).flatMap(([from, to]) => [time[from] ?? 0, time[to - 1] ?? 0]);
}

/** The least and the largest value of each part, in the order in which they come: no spike is lost. */
export function extremes(values: number[], buckets: number): number[] {
  return parts(values.length, buckets).flatMap(([from, to]) => {
    let [least, most] = [from, from];
    for (let i = from; i < to; i += 1) {
      if ((values[i] ?? 0) < (values[least] ?? 0)) least = i;
      if ((values[i] ?? 0) > (values[most] ?? 0)) most = i;
    }
    const [first, second] = least < most ? [least, most] : [most, least];
    return [values[first] ?? 0, values[second] ?? 0];
  });
}

function parts(length: number, buckets: number): [number, number][] {
  const at = (i: number) => Math.floor((i * length) / buckets);
  return Array.from({ length: buckets }, (_own, i): [number, number] => [at(i), at(i + 1)]).filter(([from, to]) => to > from);
}
