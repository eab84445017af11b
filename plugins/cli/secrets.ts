import { loadConfiguration } from '../host/config-file.ts';
import type { Rotation } from '../host/rotate.ts';
import { type Command, exit, placeOptions, printJson, withGateway } from './command.ts';

const details = `Stop the gateway first. Everything encrypted at rest is encrypted again: the keys in key files, the secrets of devices and
webhooks, the key that signs tokens, credentials for upstream CAs. With a key file the new key is made; with a passphrase, it is
new_passphrase in [secrets], and you set passphrase to it afterwards. A rotation that was cut off goes on when the command is
run again, and until it has ended, the old key stays usable.

Several gateways on one database go on one at a time: run it with --prepare at one of them, copy master.json.new and
master.key.new to the data directories of all others, and restart each. Then stop, rotate with --resume and start one after the
other. A gateway that does not know the new key stops, and says so.`;

export const secretsCommands: readonly Command[] = [
  {
    name: 'secrets rotate',
    positionals: [],
    summary: 'Replace the master key, and encrypt everything at rest under the new one.',
    details,
    options: {
      prepare: { type: 'boolean', help: 'Make the new key and do no more' },
      resume: { type: 'boolean', help: 'Only end a rotation that has been prepared or was cut off' },
      ...placeOptions,
    },
    async run(invocation) {
      const { prepare, resume, json } = invocation.options;
      const loaded = await loadConfiguration(invocation.place, invocation.catalog);
      const { rotateMasterKey } = await import('../host/rotate.ts');
      const { state, secrets, source } = await rotateMasterKey(loaded, {
        prepare: prepare === true,
        resume: resume === true,
        reseal: () =>
          withGateway(invocation, ({ gateway, principal }) => gateway.rotateSecrets(principal), {
            sealWithNew: true,
          }),
      });
      if (json === true) printJson({ state, secrets });
      else console.log(texts[state](source, secrets));
      return exit.success;
    },
  },
];

const texts: { readonly [S in Rotation['state']]: (source: Rotation['source'], secrets: number) => string } =
  {
    none: () => 'No rotation of the master key is under way.',
    prepared: (source) =>
      source === 'file'
        ? 'The new master key has been made. Copy master.json.new and the new key file to all other gateways, and restart each.'
        : 'The rotation has been prepared. Copy master.json.new to all other gateways, set new_passphrase there, and restart each.',
    rotated: (source, secrets) =>
      `The master key has been replaced, and ${secrets} secrets have been encrypted again.${
        source === 'file' ? '' : ' In [secrets], set passphrase to the new one and remove new_passphrase.'
      } Make a backup: earlier ones hold the old key.`,
  };
