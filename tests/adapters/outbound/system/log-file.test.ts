import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { openLogFile } from '#adapters/outbound/system/log-file.ts';
import type { LogFields } from '#core/ports/platform.ts';
import { runs } from '#tests/property.ts';

type Line = Record<string, unknown>;

let parent: string;
let directory: string;
const clock = { now: () => Date.UTC(2025, 0, 2, 3, 4, 5, 678) };

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'postern-log-'));
  directory = join(parent, 'logs');
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

const open = (options: Partial<Parameters<typeof openLogFile>[0]> = {}) =>
  openLogFile({ directory, level: 'debug', stderr: false, clock, ...options });

const textOf = (name = 'postern.log'): string => readFileSync(join(directory, name), 'utf8');
const parse = (text: string): Line[] => {
  expect(text === '' || text.endsWith('\n')).toBe(true);
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
};
const rotated = (): string[] =>
  readdirSync(directory)
    .filter((name) => name.startsWith('postern-'))
    .sort();

describe('the log file', () => {
  test('has one line of JSON for each event, in order, with its time, level and fields', async () => {
    const log = await open();
    log.debug('started');
    log.info('device enrolled', {
      device: 7,
      renewed: false,
      domain: 'plant',
      note: null,
      absent: undefined,
    });
    log.warn('certificate expires');
    log.error('upstream failed', undefined, { issuer: 'plant' });
    await log.close();
    const common = { time: '2025-01-02T03:04:05.678Z', pid: process.pid };
    expect(parse(textOf())).toEqual([
      { ...common, level: 'debug', event: 'started' },
      {
        ...common,
        level: 'info',
        event: 'device enrolled',
        device: 7,
        renewed: false,
        domain: 'plant',
        note: null,
      },
      { ...common, level: 'warn', event: 'certificate expires' },
      { ...common, level: 'error', event: 'upstream failed', issuer: 'plant' },
    ]);
  });

  test('is for its owner alone, as is its directory', async () => {
    const log = await open();
    await log.close();
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(join(directory, 'postern.log')).mode & 0o777).toBe(0o600);
  });

  test.each([
    ['debug', ['debug', 'info', 'warn', 'error']],
    ['info', ['info', 'warn', 'error']],
    ['warn', ['warn', 'error']],
    ['error', ['error']],
  ] as const)('leaves out what is below level %s', async (level, expected) => {
    const log = await open({ level });
    log.debug('debug');
    log.info('info');
    log.warn('warn');
    log.error('error');
    await log.close();
    expect(parse(textOf()).map((line) => line.event)).toEqual([...expected]);
  });

  test('has an error with its code, its stack and its causes', async () => {
    const log = await open();
    const root = Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' });
    log.error('store unavailable', new Error('no answer', { cause: root }), { error: 'a field' });
    log.error('all addresses failed', new AggregateError([root, root], 'all failed'));
    log.error('thrown text', 'just text');
    await log.close();
    const [first, second, third] = parse(textOf());
    expect(first).toMatchObject({
      error: {
        name: 'Error',
        message: 'no answer',
        stack: expect.stringContaining('log-file.test.ts'),
        cause: { message: 'connection refused', code: 'ECONNREFUSED' },
      },
      error_: 'a field',
    });
    expect(second).toMatchObject({ error: { errors: [{ code: 'ECONNREFUSED' }, { code: 'ECONNREFUSED' }] } });
    expect(third).toMatchObject({ error: 'just text' });
  });

  test('follows causes to a bounded depth, also in a circle', async () => {
    const log = await open();
    const error: Error = new Error('round');
    error.cause = error;
    log.error('circle', error);
    await log.close();
    expect(textOf().match(/"message":"round"/g)).toHaveLength(5);
  });

  test.each([
    'password',
    'estPassword',
    'cmp_shared_secret',
    'clientSecret',
    'accessToken',
    'Authorization',
    'pin',
    'hsm_pin',
    'userPin',
    'PIN',
    'passphrase',
    'set-cookie',
  ])('does not show a field called %s', async (name) => {
    const log = await open();
    log.info('login', { [name]: 'hunter2' });
    await log.close();
    expect(textOf()).not.toContain('hunter2');
    expect(parse(textOf())[0]).toMatchObject({ [name]: '[redacted]' });
  });

  test.each(['ping', 'spinning', 'mapping', 'pinned', 'name'])('shows a field called %s', async (name) => {
    const log = await open();
    log.info('event', { [name]: 'shown' });
    await log.close();
    expect(parse(textOf())[0]).toMatchObject({ [name]: 'shown' });
  });

  test('cuts what is longer than 2,000 characters', async () => {
    const log = await open();
    log.error('e'.repeat(5000), new Error('m'.repeat(5000)), { field: 'f'.repeat(5000) });
    await log.close();
    const [line] = parse(textOf());
    expect(line).toMatchObject({
      event: `${'e'.repeat(2000)}…`,
      field: `${'f'.repeat(2000)}…`,
      error: { message: `${'m'.repeat(2000)}…` },
    });
    expect(textOf().length).toBeLessThan(10_000);
  });

  test('keeps its own members from fields of the same name', async () => {
    const log = await open();
    log.info('event', { level: 'fake', time: 'fake', event: 'fake', pid: 0, error: 'shown' });
    await log.close();
    const own = { level: 'info', event: 'event', pid: process.pid };
    expect(parse(textOf())[0]).toMatchObject({ ...own, level_: 'fake', event_: 'fake', error: 'shown' });
  });

  test('has one printable line for each event, whatever is in it', async () => {
    const log = await open();
    const text = fc.string({ unit: 'binary', maxLength: 50 });
    const texts: string[] = ['\u001b[31m\r\n\u009b31m\u2028\u202e\u0000\ud800'];
    fc.assert(
      fc.property(text, (value) => {
        texts.push(value);
      }),
      runs(500),
    );
    for (const value of texts) log.error(value, new Error(value), { value, [`x${value}`]: 1 });
    await log.close();
    const written = textOf();
    expect(written).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e]/);
    expect(parse(written).map((line) => line.value)).toEqual(texts);
  });

  test('is not harmed by values that cannot be read or written', async () => {
    const log = await open();
    const hostile = {
      get value(): string {
        throw new Error('no');
      },
    };
    log.info('hostile', hostile);
    log.info('big', { value: 1n } as unknown as LogFields);
    log.error('no text', Object.create(null));
    log.info('after');
    await log.close();
    const events = parse(textOf()).map((line) => line.event);
    expect(events).toHaveLength(4);
    expect(events[3]).toBe('after');
  });

  test('takes nothing after it is closed, and closing twice is no error', async () => {
    const log = await open();
    log.info('before');
    await log.close();
    log.info('after');
    await log.close();
    expect(parse(textOf())).toHaveLength(1);
  });

  test('continues where the process before left off', async () => {
    for (const event of ['first', 'second']) {
      const log = await open();
      log.info(event);
      await log.close();
    }
    expect(parse(textOf()).map((line) => line.event)).toEqual(['first', 'second']);
  });

  test('drops lines that come faster than they can be written, and says how many', async () => {
    const log = await open();
    const note = 'x'.repeat(1990);
    for (let i = 0; i < 5000; i++) log.info('flood', { note });
    await Bun.sleep(200);
    log.info('after');
    await log.close();
    const lines = parse(textOf());
    const floods = lines.filter((line) => line.event === 'flood').length;
    const dropped = lines.filter((line) => line.event === 'log lines dropped');
    expect(floods).toBeGreaterThan(1000);
    expect(dropped.reduce((sum, line) => sum + Number(line.count), 0)).toBe(5000 - floods);
    expect(lines.at(-1)!.event).toBe('after');
  });

  test('is made anew when somebody deletes it', async () => {
    const log = await open();
    log.info('before');
    await Bun.sleep(100);
    unlinkSync(join(directory, 'postern.log'));
    log.info('after');
    await log.close();
    expect(parse(textOf()).map((line) => line.event)).toEqual(['after']);
  });

  test('counts what is lost while it cannot be written, and goes on afterwards', async () => {
    const log = await open();
    rmSync(directory, { recursive: true });
    log.info('lost');
    await Bun.sleep(100);
    mkdirSync(directory);
    log.info('after');
    await log.close();
    const [dropped, after] = parse(textOf());
    expect(dropped).toMatchObject({ event: 'log lines dropped', count: 1 });
    expect(after).toMatchObject({ event: 'after' });
  });

  test('fails to open where it cannot be written', async () => {
    await expect(open({ directory: '/dev/null/logs' })).rejects.toThrow();
  });
});

describe('rotation', () => {
  const write = async (log: Awaited<ReturnType<typeof open>>, event: string): Promise<void> => {
    log.info(event, { note: 'x'.repeat(400) });
    while (!written().some((line) => line.event === event)) await Bun.sleep(5);
  };
  /** The lines of all files, oldest first. */
  const written = () =>
    [...rotated(), 'postern.log'].flatMap((name) =>
      existsSync(join(directory, name)) ? parse(textOf(name)) : [],
    );

  test('starts a new file when the old one is full, and keeps the newest', async () => {
    const log = await open({ maxBytes: 1000, maxFiles: 3 });
    for (let i = 0; i < 9; i++) await write(log, `event ${i}`);
    await log.close();
    expect(readdirSync(directory).sort()).toEqual([...rotated(), 'postern.log']);
    expect(rotated()).toHaveLength(2);
    for (const name of rotated()) expect(name).toMatch(/^postern-20250102T030405\d{3}Z\.log$/);
    expect(written().map((line) => line.event)).toEqual([
      'event 4',
      'event 5',
      'event 6',
      'event 7',
      'event 8',
    ]);
    for (const name of readdirSync(directory))
      expect(statSync(join(directory, name)).size).toBeLessThan(1001);
  });

  test('waits while another process rotates, and breaks the lock of one that died', async () => {
    const lock = join(directory, '.rotating');
    const log = await open({ maxBytes: 500 });
    await write(log, 'a');
    mkdirSync(lock);
    await write(log, 'b');
    expect(rotated()).toEqual([]);
    utimesSync(lock, new Date(0), new Date(0));
    await write(log, 'c');
    await write(log, 'd');
    await log.close();
    expect(rotated()).not.toEqual([]);
    expect(written().map((line) => line.event)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('loses no line when several processes write at once', async () => {
    const script = `
      import { openLogFile } from '#adapters/outbound/system/log-file.ts';
      const log = await openLogFile({ directory: process.argv[1], level: 'info', stderr: false, maxBytes: 20000, maxFiles: 1000 });
      for (let i = 0; i < 400; i++) {
        log.info('line', { i, note: 'x'.repeat(100) });
        if (i % 10 === 0) await Bun.sleep(5);
      }
      await log.close();`;
    const writers = [1, 2, 3].map(() =>
      Bun.spawn([process.execPath, '-e', script, directory], { stdout: 'inherit', stderr: 'inherit' }),
    );
    expect(await Promise.all(writers.map((writer) => writer.exited))).toEqual([0, 0, 0]);
    const lines = readdirSync(directory).flatMap((name) => parse(textOf(name)));
    expect(rotated().length).toBeGreaterThan(3);
    expect(readdirSync(directory)).toHaveLength(rotated().length + 1);
    expect(new Set(lines.map((line) => `${line.pid} ${line.i}`)).size).toBe(1200);
    expect(lines).toHaveLength(1200);
  }, 60_000);
});

describe('standard error', () => {
  const script = (lines: number): string => `
    import { openLogFile } from '#adapters/outbound/system/log-file.ts';
    const log = await openLogFile({ directory: process.argv[1], level: 'info', stderr: true });
    for (let i = 0; i < ${lines}; i++) { log.info('line', { i, note: 'x'.repeat(1000) }); await 0; }
    const start = performance.now();
    await log.close();
    process.stdout.write(\`closed \${Math.round(performance.now() - start)}\`, () => process.exit(0));`;

  test('has the same lines', async () => {
    const child = Bun.spawn([process.execPath, '-e', script(100), directory], {
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [shown] = await Promise.all([new Response(child.stderr).text(), child.exited]);
    expect(shown).toBe(textOf());
    expect(parse(shown)).toHaveLength(100);
  });

  test('holds nothing up when nobody reads it', async () => {
    // The pipe takes 64 KiB and no more; who holds its other end waits for the end of its own input.
    const command = `exec 3>&1 4<&0 >/dev/null
      "$0" -e "$1" "$2" 2>&1 >&3 3>&- 4<&- | { exec 3>&- 5<&0; cat <&4; } &
      exec 3>&-; wait`;
    const child = Bun.spawn(['sh', '-c', command, process.execPath, script(500), directory], {
      stdin: 'pipe',
      stdout: 'pipe',
    });
    const [closed, waited] = (await new Response(child.stdout).text()).split(' ');
    expect(closed).toBe('closed');
    expect(Number(waited)).toBeGreaterThan(1900);
    child.stdin.end();
    expect(parse(textOf())).toHaveLength(500);
    await child.exited;
  }, 60_000);

  test('may be closed by its reader', async () => {
    const command = '{ "$0" -e "$1" "$2" 2>&1 >&3 | true; } 3>&1';
    const child = Bun.spawn(['sh', '-c', command, process.execPath, script(500), directory], {
      stdout: 'pipe',
    });
    expect(await new Response(child.stdout).text()).toStartWith('closed');
    expect(parse(textOf())).toHaveLength(500);
    expect(await child.exited).toBe(0);
  }, 60_000);
});
