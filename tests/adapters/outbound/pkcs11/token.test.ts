import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, spyOn, test } from 'bun:test';
import { generateKeyPairSync } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openToken, type TokenOptions } from '#adapters/outbound/pkcs11/token-keys.ts';
import { TokenProcess } from '#adapters/outbound/pkcs11/token-process.ts';
import { Fault } from '#core/fault.ts';
import type { KeyStore } from '#core/ports/keys.ts';
import { readPublicKey, verifySignature } from '#core/x509/public-key.ts';
import { recordingLog } from '#tests/fakes/log.ts';
import {
  hasProxy,
  hasSoftHsm,
  hasSoftokn,
  optionsOf,
  type PulledToken,
  pin,
  type SoftHsm,
  startSoftHsm,
  startSoftokn,
  throughProxy,
} from '#tests/fixtures/tokens.ts';

const data = Buffer.from('to be signed');
const patience = 60_000;

async function faultOf(action: () => unknown): Promise<Fault> {
  try {
    await action();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('no Fault');
}

/** The message that the operator gets when the store does not open. */
async function refusalOf(options: TokenOptions): Promise<string> {
  try {
    await (await openToken(options)).close();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return 'opened';
}

/** Returns the environment of the process that holds a module, found by one of its variables. */
function environmentOfHost(mark: string): readonly string[] {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      if (variables.includes(`SOFTHSM2_CONF=${mark}`)) return variables;
    } catch {
      // It ended meanwhile, or belongs to somebody else.
    }
  }
  throw new Error('no such process');
}

/** Signs as long as it takes; how many attempts were refused, each with `unavailable`. */
async function signsAgain(keys: KeyStore, id: string): Promise<number> {
  const deadline = performance.now() + 20_000;
  for (let refused = 0; ; refused++) {
    try {
      await keys.sign(id, 'ecdsa-sha256', data);
      return refused;
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'unavailable') throw error;
      if (performance.now() > deadline) throw error;
      await Bun.sleep(50);
    }
  }
}

describe.skipIf(!hasSoftHsm)('a token', () => {
  let hsm: SoftHsm;
  let names = 0;
  const fresh = (): string => join(hsm.directory, `pin-${++names}.json`);

  beforeAll(() => {
    hsm = startSoftHsm();
  });
  afterAll(() => hsm.remove());

  /** With a tool that is not ours; it logs in with the PIN that is right. */
  function importKey(label: string, id: string): Buffer {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const file = join(hsm.directory, 'import.pem');
    writeFileSync(file, privateKey.export({ format: 'pem', type: 'pkcs8' }));
    const { success, stderr } = Bun.spawnSync(
      [
        'softhsm2-util',
        '--import',
        file,
        '--force',
        '--token',
        'token',
        '--label',
        label,
        '--id',
        id,
        '--pin',
        pin,
      ],
      { env: { ...process.env, ...hsm.environment } },
    );
    if (!success) throw new Error(stderr.toString());
    return publicKey.export({ format: 'der', type: 'spki' });
  }

  describe('with keys of other tools', () => {
    test('finds them by id and by label, and signs with them', async () => {
      const spki = importKey('made elsewhere', 'A1B2');
      const keys = await openToken(optionsOf(hsm));
      expect(await keys.find!('made elsewhere')).toMatchObject({ id: 'a1b2' });
      expect(Buffer.compare(await keys.publicKey('a1b2'), spki)).toBe(0);
      const signature = await keys.sign('a1b2', 'ecdsa-sha256', data);
      expect(verifySignature(readPublicKey(spki), 'ecdsa-sha256', data, signature)).toBe(true);
      await keys.close();
    });

    test('finds its own key by label', async () => {
      const keys = await openToken(optionsOf(hsm));
      const made = await keys.generate('p-384', 'Plant Root ü');
      expect((await keys.find!('Plant Root ü')).id).toBe(made.id);
      expect((await faultOf(() => keys.find!('nobody'))).code).toBe('notFound');
      await keys.close();
    });

    test('rejects a label or id that two keys have', async () => {
      importKey('twice', 'C1');
      importKey('twice', 'C2');
      importKey('another', 'D1');
      importKey('and another', 'D1');
      const keys = await openToken(optionsOf(hsm));
      expect((await faultOf(() => keys.find!('twice'))).code).toBe('conflict');
      expect((await faultOf(() => keys.publicKey('d1'))).code).toBe('conflict');
      await keys.close();
    });
  });

  describe('given a wrong PIN', () => {
    const wrong = '000000';
    /** Whether the token remembers a wrong PIN: then a PIN that is not known to be right is not tried. */
    const counts = async (): Promise<boolean> =>
      (await refusalOf({ ...optionsOf(hsm), pinFile: fresh() })) !== 'opened';
    const clear = (): void => {
      importKey('clears the count', 'EE');
    };

    beforeEach(clear);
    // The other tests open the token with a PIN that is not recorded as right, too.
    afterEach(clear);

    test('reports it immediately, after one login', async () => {
      const log = recordingLog();
      const message = await refusalOf({ ...optionsOf(hsm), pin: wrong, pinFile: fresh(), log });
      expect(message).toBe('the token rejects the configured PIN');
      expect(await counts()).toBe(true);
      expect(JSON.stringify(log.entries)).not.toContain(wrong);
    });

    test('does not try the same PIN again at any start, until the configuration has another', async () => {
      const options = { ...optionsOf(hsm), pinFile: fresh() };
      await refusalOf({ ...options, pin: wrong });
      clear();
      for (let start = 0; start < 5; start++) {
        expect(await refusalOf({ ...options, pin: wrong })).toContain('the token rejected this PIN');
      }
      expect(await counts()).toBe(false);
      expect(await refusalOf(options)).toBe('opened');
    });

    test('accepts the corrected PIN although it has counted the wrong one', async () => {
      const options = { ...optionsOf(hsm), pinFile: fresh() };
      await refusalOf({ ...options, pin: wrong });
      expect(await refusalOf(options)).toBe('opened');
      expect(await counts()).toBe(false);
    });

    test('is tried once by several concurrent starts', async () => {
      const options = { ...optionsOf(hsm), pin: wrong, pinFile: fresh() };
      const messages = await Promise.all(Array.from({ length: 4 }, () => refusalOf(options)));
      const tried = messages.filter((message) => message === 'the token rejects the configured PIN');
      expect(tried).toHaveLength(1);
    });

    test('of another user continues with the PIN that has worked before', async () => {
      const options = { ...optionsOf(hsm), pinFile: fresh() };
      expect(await refusalOf(options)).toBe('opened');
      await refusalOf({ ...options, pin: wrong, pinFile: fresh() });
      expect(await refusalOf(options)).toBe('opened');
    });

    test.each(['', '{"accepted":tru', '[]', '{"accepted":false}'])(
      'is not tried while the record of PINs is damaged: %p',
      async (record) => {
        const options = { ...optionsOf(hsm), pin: wrong, pinFile: fresh() };
        writeFileSync(options.pinFile, record);
        expect(await refusalOf(options)).toBe(
          `${options.pinFile} is damaged: delete it to try the PIN again`,
        );
        expect(await counts()).toBe(false);
      },
    );

    test('does not reveal the recorded PINs', async () => {
      const options = { ...optionsOf(hsm), pinFile: fresh() };
      await refusalOf(options);
      expect(readFileSync(options.pinFile, 'latin1')).not.toContain(pin);
    });
  });

  test('has its module in a process without our environment, except the variables for modules', async () => {
    const ours = { DATABASE_URL: 'postgres://a-secret', POSTERN_ADMIN_PASSWORD: 'a-secret', LC_TIME: 'C' };
    const before = Object.keys(ours).map((name) => [name, process.env[name]] as const);
    Object.assign(process.env, ours);
    try {
      const keys = await openToken({
        ...optionsOf(hsm),
        environment: { ...hsm.environment, PLANT_HSM: 'a setting' },
      });
      const variables = environmentOfHost(hsm.environment.SOFTHSM2_CONF!);
      await keys.close();
      expect(variables.filter((one) => one.includes('a-secret'))).toEqual([]);
      expect(variables).toContain(`PATH=${process.env.PATH}`);
      expect(variables).toContain('LC_TIME=C');
      expect(variables).toContain('PLANT_HSM=a setting');
    } finally {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
  });

  test('works beside another token of the same module', async () => {
    hsm.createToken('second');
    const one = await openToken(optionsOf(hsm));
    const two = await openToken({ ...optionsOf(hsm), token: 'second', pinFile: fresh() });
    const [a, b] = await Promise.all([one.generate('p-256', 'a'), two.generate('p-256', 'b')]);
    await one.sign(a.id, 'ecdsa-sha256', data);
    expect((await faultOf(() => two.sign(a.id, 'ecdsa-sha256', data))).code).toBe('notFound');
    await one.close();
    expect(await two.sign(b.id, 'ecdsa-sha256', data)).toBeInstanceOf(Uint8Array);
    await two.close();
  });

  test('that is missing is waited for and logged', async () => {
    const log = recordingLog();
    const keys = await openToken({ ...optionsOf(hsm), token: 'late', pinFile: fresh(), log });
    expect(await keys.health()).toEqual({ ok: false, detail: 'the token is not present' });
    const fault = await faultOf(() => keys.generate('p-256', 'x'));
    expect([fault.code, fault.detail]).toEqual(['unavailable', 'the token is not present']);
    expect(log.entries[0]!.fields!.reason).toContain('"token" in slot');
    hsm.createToken('late');
    await Bun.sleep(600);
    expect((await keys.generate('p-256', 'x')).id).toHaveLength(32);
    expect(await keys.health()).toEqual({ ok: true });
    await keys.close();
  });

  test('with a module that does not load is an error immediately', async () => {
    const options = { ...optionsOf(hsm), pinFile: fresh() };
    const missing = await refusalOf({ ...options, library: join(hsm.directory, 'missing.so') });
    expect(missing).toContain('the PKCS #11 module cannot be used');
    expect(missing).toContain('missing.so');
    expect(await refusalOf({ ...options, library: hsm.environment.SOFTHSM2_CONF! })).toContain(
      'cannot be used',
    );
  });

  test('whose files are moved away is unavailable until they are back', async () => {
    const keys = await openToken({ ...optionsOf(hsm), pinFile: fresh() });
    const { id } = await keys.generate('p-256', 'moved');
    await keys.sign(id, 'ecdsa-sha256', data);
    renameSync(hsm.tokens, `${hsm.tokens}.away`);
    const fault = await faultOf(() => keys.publicKey(id));
    expect(fault.code).toBe('unavailable');
    rmSync(hsm.tokens, { recursive: true, force: true });
    renameSync(`${hsm.tokens}.away`, hsm.tokens);
    await signsAgain(keys, id);
    await keys.close();
  }, 60_000);

  test('whose module crashes is opened again, and the request is answered', async () => {
    const keys = await openToken({ ...optionsOf(hsm), pinFile: fresh() });
    const { id } = await keys.generate('p-256', 'crash');
    for (const child of children()) process.kill(child, 'SIGKILL');
    expect(await keys.sign(id, 'ecdsa-sha256', data)).toBeInstanceOf(Uint8Array);
    await keys.close();
    expect(children()).toEqual([]);
  });

  test('that is closed rejects requests', async () => {
    const keys = await openToken({ ...optionsOf(hsm), pinFile: fresh() });
    await keys.close();
    expect((await faultOf(() => keys.generate('p-256', 'x'))).code).toBe('unavailable');
    expect(children()).toEqual([]);
  });
});

/** Processes that this one has started. */
function children(): number[] {
  const tasks = readdirSync('/proc/self/task');
  return tasks.flatMap((task) =>
    readFileSync(`/proc/self/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
}

describe.skipIf(!hasProxy)('a disconnected token', () => {
  let hsm: SoftHsm;
  let proxy: PulledToken;
  let keys: KeyStore;
  let id: string;
  const log = recordingLog();

  beforeAll(async () => {
    hsm = startSoftHsm();
    proxy = await throughProxy(hsm);
    keys = await openToken({ ...optionsOf(hsm), ...proxy.module, log, patience: 1000 });
    ({ id } = await keys.generate('p-256', 'pulled'));
  }, patience);
  afterAll(async () => {
    await keys.close();
    await proxy.pull();
    hsm.remove();
  });

  test(
    'is unavailable immediately, fails its health check, and works again without a restart',
    async () => {
      await keys.sign(id, 'ecdsa-sha256', data);
      const before = log.entries.length;
      await proxy.pull();
      for (const use of [
        () => keys.sign(id, 'ecdsa-sha256', data),
        () => keys.publicKey(id),
        () => keys.generate('p-256', 'not now'),
      ]) {
        const fault = await faultOf(use);
        expect([fault.code, fault.detail]).toEqual(['unavailable', 'the token is not present']);
        expect(fault.retryAfter).toBe(5);
      }
      expect(await keys.health()).toEqual({ ok: false, detail: 'the token is not present' });
      await proxy.putBack();
      await signsAgain(keys, id);
      expect(await keys.health()).toEqual({ ok: true });
      expect(log.entries.slice(before).map(({ event }) => event)).toEqual([
        'token connection lost',
        'token connection restored',
      ]);
    },
    patience,
  );

  test(
    'that is back before the next request causes no error',
    async () => {
      for (let round = 0; round < 3; round++) {
        await proxy.pull();
        await proxy.putBack();
        expect(await keys.sign(id, 'ecdsa-sha256', data)).toBeInstanceOf(Uint8Array);
      }
    },
    patience,
  );

  test(
    'during a signature fails or completes the request, and nothing hangs',
    async () => {
      const outcomes = new Set<string>();
      const { promise: working, resolve: works } = Promise.withResolvers<void>();
      const jobs = Array.from({ length: 50 }, async () => {
        try {
          for (;;) {
            await keys.sign(id, 'ecdsa-sha256', data);
            outcomes.add('signed');
            works();
          }
        } catch (error) {
          outcomes.add(error instanceof Fault ? error.code : 'no Fault');
        }
      });
      await working;
      await proxy.pull();
      await Promise.all(jobs);
      expect([...outcomes].sort()).toEqual(['signed', 'unavailable']);
      await proxy.putBack();
      await signsAgain(keys, id);
    },
    patience,
  );

  test(
    'that does not respond blocks only its own requests',
    async () => {
      proxy.freeze();
      let ticks = 0;
      const ticking = setInterval(() => ticks++, 20);
      const fault = await faultOf(() => keys.sign(id, 'ecdsa-sha256', data));
      clearInterval(ticking);
      expect([fault.code, fault.detail]).toEqual(['unavailable', 'the token does not respond']);
      expect(ticks).toBeGreaterThan(10);
      // The next request does not wait as long again.
      const asked = spyOn(TokenProcess.prototype, 'ask');
      expect((await faultOf(() => keys.sign(id, 'ecdsa-sha256', data))).code).toBe('unavailable');
      expect(asked).not.toHaveBeenCalled();
      asked.mockRestore();
      expect((await keys.health()).ok).toBe(false);
      proxy.thaw();
      await signsAgain(keys, id);
      // Somebody who asks nothing else learns of it as soon.
      proxy.freeze();
      expect(await keys.health()).toEqual({ ok: false, detail: 'the token does not respond' });
      proxy.thaw();
      await signsAgain(keys, id);
    },
    patience,
  );
});

describe.skipIf(!hasSoftokn)('a key generated in a token', () => {
  test(
    'is sensitive, not extractable and only for signatures',
    async () => {
      const tokens = await startSoftokn();
      const keys = await openToken(optionsOf(tokens));
      const { id } = await keys.generate('rsa-2048', 'of the token');
      await keys.close();
      expect(keys.export).toBeUndefined();
      expect(keys.import).toBeUndefined();
      const attributes = await tokens.privateKeyAttributes(
        id,
        [0x1, 0x2, 0x103, 0x162, 0x164, 0x105, 0x107, 0x108],
      );
      const [token, isPrivate, sensitive, extractable, neverExtractable, decrypt, unwrap, sign] = attributes;
      expect({ token, isPrivate, sensitive, extractable, neverExtractable, decrypt, unwrap, sign }).toEqual({
        token: true,
        isPrivate: true,
        sensitive: true,
        extractable: false,
        neverExtractable: true,
        decrypt: false,
        unwrap: false,
        sign: true,
      });
      tokens.remove();
    },
    patience,
  );
});
