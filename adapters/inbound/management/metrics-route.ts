import { Type } from '@sinclair/typebox';
import type { Gateway } from '#core/gateway.ts';
import type { MetricFamily, Sample } from '#core/metrics/counters.ts';
import type { Route } from './route.ts';

const contentType = 'text/plain; version=0.0.4; charset=utf-8';
const example = '# TYPE postern_healthy gauge\npostern_healthy{part="store"} 1\n';

/** `GET /metrics`, in the text format of Prometheus. */
export const metricsRoute = (gateway: Gateway): Route => ({
  method: 'GET',
  path: '/metrics',
  operation: {
    id: 'readMetrics',
    tag: 'metrics',
    summary: 'Read metrics in the text format of Prometheus',
    description:
      'Any one of the worker processes responds. Counters of a single process have its number in the label `worker`: sum over ' +
      'that label. Scrapers authenticate with the token in `[metrics]` of the configuration, or as a service account.',
    permission: 'metrics.read',
    responses: {
      200: {
        description: 'The metrics.',
        content: { 'text/plain': { schema: Type.String(), example } },
      },
    },
  },
  async handle(principal) {
    const families = [...(await gateway.metrics(principal)), ...processFamilies()];
    return new Response(families.map(render).join(''), { headers: { 'content-type': contentType } });
  },
});

const worker = String(process.pid);

function processFamilies(): readonly MetricFamily[] {
  const { user, system } = process.cpuUsage();
  const one = (value: number): readonly Sample[] => [{ labels: {}, value }];
  return [
    {
      name: 'process_cpu_seconds_total',
      help: 'CPU time used by the process.',
      type: 'counter',
      perProcess: true,
      samples: one((user + system) / 1e6),
    },
    {
      name: 'process_resident_memory_bytes',
      help: 'Memory of the process.',
      type: 'gauge',
      perProcess: true,
      samples: one(process.memoryUsage.rss()),
    },
    {
      name: 'process_start_time_seconds',
      help: 'Start time of the process, seconds since 1970.',
      type: 'gauge',
      perProcess: true,
      samples: one(Math.floor(performance.timeOrigin / 1000)),
    },
  ];
}

function render({ name, help, type, perProcess, samples }: MetricFamily): string {
  const lines = samples.map(({ suffix = '', labels, value }) => {
    const all = Object.entries(perProcess ? { ...labels, worker } : labels);
    const list = all.map(([label, text]) => `${label}="${escaped(text)}"`).join(',');
    return `${name}${suffix}${list === '' ? '' : `{${list}}`} ${value}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

const escaped = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
