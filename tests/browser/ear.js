// SPDX-License-Identifier: LGPL-2.1-or-later
// What a page of examples/web hears, for a test: TONES, in Hz, each looked for in
// each slot, many times a second.
'use strict';

const ear = {
  LOUD_DB: -45,                 // a tone that is there; one that is not has -80 or less
  NOTHING_DB: -200,
  PEAK_DB: 15,                  // above what is beside it ...
  ASIDE: 8,                     // ... so many bins
  HEARD_DB: -38,                // of a voice whose usual level is -23, with all that is
                                // nearer to it than ASIDE bins
  LOOK_MS: 50,
  TICK: 0.3,                    // louder than all tones together
  TICK_MS: 20,
  looks: [],                    // see look()
  ticks: [],                    // see startTicks()

  start() {
    setInterval(() => this.looks.push(this.look()), this.LOOK_MS);
  },

  // t: when, s; played: the sound's own time, s; db: of each slot, how loud each tone
  // is; loud: for each tone the slots where it is; heard: whether there is any of it;
  // named: of each slot, the SSRCs
  look() {
    const spectra = sound.slots.map(slot => {
      const bins = new Float32Array(slot.meter.frequencyBinCount);
      slot.meter.getFloatFrequencyData(bins);
      return bins;
    });
    return {t: performance.now() / 1000, played: sound.context.currentTime,
      db: spectra.map(bins => TONES.map(hz => Math.round(this.peak(bins, hz)))),
      loud: TONES.map(hz =>
        spectra.flatMap((bins, n) => this.isThere(bins, hz) ? [n] : [])),
      heard: TONES.map(hz => spectra.some(bins => this.isHeard(bins, hz))),
      named: sound.heard()};
  },

  bin(bins, hz) {
    return Math.round(hz * 2 * bins.length / sound.context.sampleRate);
  },

  peak(bins, hz) {
    const n = this.bin(bins, hz);
    return Math.max(...bins.slice(n - 1, n + 2), this.NOTHING_DB);
  },

  // A tone is a peak; a click is in all bins
  isThere(bins, hz) {
    const n = this.bin(bins, hz), peak = this.peak(bins, hz);
    const beside = Math.max(bins[n - this.ASIDE], bins[n + this.ASIDE]);
    return peak > this.LOUD_DB && peak > beside + this.PEAK_DB;
  },

  // A browser that has too few packets repeats and stretches what it has, and then a
  // voice is heard that is no peak any more.
  isHeard(bins, hz) {
    const n = this.bin(bins, hz), beside = bins.slice(n - this.ASIDE, n + this.ASIDE + 1);
    return 10 * Math.log10(beside.reduce((sum, db) => sum + 10 ** (db / 10), 0)) >
      this.HEARD_DB;
  },

  // When the ticks of each slot began to be heard, in s of the machine's clock
  startTicks() {
    const last = new Map();
    setInterval(() => {
      for (const slot of sound.slots) {
        const wave = new Float32Array(slot.meter.fftSize);
        slot.meter.getFloatTimeDomainData(wave);
        const first = wave.findIndex(x => Math.abs(x) > this.TICK);
        const ago = (wave.length - first) / sound.context.sampleRate;
        const at = sound.context.currentTime - ago;
        if (first < 0 || at - (last.get(slot) ?? 0) < 0.3) continue;
        last.set(slot, at);
        this.ticks.push((performance.timeOrigin + performance.now()) / 1000 - ago);
      }
    }, this.TICK_MS);
  },

  // What was looked at since the last time
  take() {
    return this.looks.splice(0);
  },

  async me() {
    const stats = await sound.connection.getSenders()[0].getStats();
    return [...stats.values()].find(s => s.type === 'outbound-rtp')?.ssrc;
  },

  async wayUp() {
    const stats = await sound.connection.getStats();
    return [...stats.values()].find(s => s.type === 'candidate-pair' && s.nominated)
      ?.availableOutgoingBitrate;
  },

  // Of the pair of candidates that is in use: both ends' kinds (host, srflx, prflx,
  // relay); protocol
  async pair() {
    const stats = [...(await sound.connection.getStats()).values()];
    const by = id => stats.find(s => s.id === id);
    const pair = stats.find(s => s.type === 'candidate-pair' && s.nominated &&
      s.state === 'succeeded');
    const [here, there] = [by(pair?.localCandidateId), by(pair?.remoteCandidateId)];
    return pair && [here.candidateType, there.candidateType, there.protocol];
  },

  // Whether the last three looks find a tone
  hears(hz) {
    const tone = TONES.indexOf(hz), last = this.looks.slice(-3);
    return last.length === 3 && last.every(look => look.loud[tone].length);
  },

  // In which of these seconds the only slot begins anew: each [packets, wanted, held, s]
  forgets(seconds) {
    const lateness = new Lateness();
    const total = {packets: 0, emitted: 0, target: 0, delay: 0};
    return seconds.map(([packets, wanted, held]) => {
      total.packets += packets;
      total.emitted += packets;
      total.target += packets * wanted;
      total.delay += packets * held;
      return lateness.look(new Map([['slot', {...total}]])).length;
    });
  },

  // What a way up carries after each of these pictures: [received, lost, the encoder's rate]
  carries(pictures) {
    const wayUp = new WayUp();
    return pictures.map(([received, lost, bps]) => Math.round(wayUp.look({received, lost}, bps)));
  },

  // All slots begin anew; how they then are
  async renew() {
    await sound.renew(sound.slots);
    return [sound.connection.signalingState, sound.slots.length,
      ...sound.connection.getTransceivers().map(t => t.currentDirection)];
  },

  // Of each slot that ever played: how late it plays, and what it had to make up
  async slots() {
    const found = [], named = sound.heard();
    for (const [n, slot] of sound.slots.entries()) {
      const stats = [...(await slot.receiver.getStats()).values()]
        .find(s => s.type === 'inbound-rtp');
      if (stats?.packetsReceived)
        found.push({slot: n, packets: stats.packetsReceived, lost: stats.packetsLost,
          delay: stats.jitterBufferDelay, target: stats.jitterBufferTargetDelay,
          minimum: stats.jitterBufferMinimumDelay, emitted: stats.jitterBufferEmittedCount,
          concealed: stats.concealedSamples, silent: stats.silentConcealedSamples,
          discarded: stats.packetsDiscarded, jitter: stats.jitter,
          samples: stats.totalSamplesReceived, energy: stats.totalAudioEnergy,
          named: named[n]});
    }
    return found;
  },
};
