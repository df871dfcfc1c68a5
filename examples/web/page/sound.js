// SPDX-License-Identifier: LGPL-2.1-or-later
// What is heard: a connection of K slots, each with a place of its own.
'use strict';

const FRESH_MS = 600;           // a contributor who was heard so lately is there ...
const SILENT_MS = 3000;         // ... unless nobody was, for so long
const VOICE_BPS = 32000, LEAST_BPS = 8000;      // of the microphone's encoder
const HEADERS_BPS = 24000;      // IP, UDP, SRTP, RTP, extensions: 60 bytes each 20 ms
const FOLLOW_MS = 1000;
const LOOK_PACKETS = 100;       // of a way up, at a time
const FULL_LOSS = 0.1;          // it carries no more, as draft-ietf-rmcat-gcc-02, 6, has it
const FREE_LOSS = 0.02;         // it may carry more
const GROWTH_BPS = 1000;

// Of each slot who was heard of late, at: when, in ms.  A browser that gets few turns tells
// late of everybody: so the latest of all is now.
function fresh(told, now) {
  const latest = Math.max(...told.flat().map(s => s.at));
  return told.map(sources => sources.filter(s =>
    latest - s.at < FRESH_MS && now - latest < SILENT_MS).map(s => s.ssrc));
}

// What a way up carries, by what the server had of it: where much was lost all the rest,
// and from there on a bit more each time that next to nothing is.
class WayUp {
  constructor() {
    this.bps = VOICE_BPS + HEADERS_BPS;
    this.last = undefined;
  }

  // up: {received, lost}, of all packets; encoderBps: what is sent for it
  look(up, encoderBps) {
    if (!up) return this.bps;
    const last = this.last ??= up, lost = Math.max(0, up.lost - last.lost);
    const n = lost + up.received - last.received;
    if (n < 0) this.last = up;
    if (n < LOOK_PACKETS) return this.bps;
    this.last = up;
    let {bps} = this;
    if (lost > FULL_LOSS * n) bps = (1 - lost / n) * (encoderBps + HEADERS_BPS);
    else if (lost < FREE_LOSS * n) bps += GROWTH_BPS;
    this.bps = Math.min(Math.max(bps, LEAST_BPS + HEADERS_BPS), VOICE_BPS + HEADERS_BPS);
    return this.bps;
  }
}

class Sound {
  // isThere(SSRC): somebody has it
  constructor(isThere) {
    this.isThere = isThere;
    this.context = new AudioContext({latencyHint: 'interactive'});
    this.context.resume();
    this.slots = [];
    this.microphone = this.sender = null;
    this.lateness = new Lateness();
    this.wayUp = new WayUp();
    this.up = undefined;        // what the server had of it last
    this.renewed = Promise.resolve();
  }

  // The microphone, and a meter for it; also while one listens already
  async open(deviceId) {
    if (!navigator.mediaDevices)
      throw new Error('a browser gives the microphone only to https:// pages and localhost');
    const q = new URLSearchParams(location.search);
    const raw = q.get('raw') === '1';      // for tones: nothing is taken out
    this.microphone = await navigator.mediaDevices.getUserMedia({audio: {
      deviceId: deviceId ? {exact: deviceId} : undefined,
      echoCancellation: !raw, noiseSuppression: !raw, autoGainControl: !raw}});
    this.mine = this.meter(this.context.createMediaStreamSource(this.microphone));
    await this.sender?.replaceTrack(this.microphone.getTracks()[0]);
  }

  meter(source) {
    const meter = new AnalyserNode(this.context, {fftSize: 4096, smoothingTimeConstant: 0});
    source.connect(meter);
    return meter;
  }

  // 0 ... 1, for the eye
  level(meter) {
    if (!meter) return 0;
    const wave = new Float32Array(1024);
    meter.getFloatTimeDomainData(wave);
    const power = wave.reduce((sum, x) => sum + x * x, 0) / wave.length;
    return Math.max(0, Math.min(1, 1 + Math.log10(power + 1e-9) / 5));
  }

  // Takes the server's offer; returns the answer, with its candidates in it
  async answer(offer, iceServers) {
    this.connection = new RTCPeerConnection({bundlePolicy: 'max-bundle', iceServers});
    this.connection.ontrack = event => this.add(event);
    await this.connection.setRemoteDescription({type: 'offer', sdp: offer});
    const first = this.connection.getTransceivers()[0];
    this.sender = first.sender;         // without a track it sends nothing
    await this.sender.replaceTrack(this.microphone?.getTracks()[0] ?? null);
    first.direction = 'sendrecv';
    await this.connection.setLocalDescription();
    await this.gathered(2000);
    this.following = setInterval(() => {
      this.follow(this.sender).catch(() => {});
      this.forget().catch(() => {});
    }, FOLLOW_MS);
    return this.connection.localDescription.sdp;
  }

  // Chromium knows what the way up carries, but its encoder does not go below what it
  // is told.  Firefox does not say what it knows: there losses tell.
  async follow(sender) {
    const stats = [...(await this.connection.getStats()).values()];
    const parameters = sender.getParameters(), [encoding] = parameters.encodings;
    if (!encoding) return;
    const now = encoding.maxBitrate ?? VOICE_BPS;
    const carries = stats.find(s => s.type === 'candidate-pair' && s.nominated)
      ?.availableOutgoingBitrate ??
      this.wayUp.look(this.up, now);
    const bps = Math.max(LEAST_BPS, Math.min(VOICE_BPS, Math.round(carries - HEADERS_BPS)));
    if (Math.abs(bps - now) < 1000) return;
    encoding.maxBitrate = bps;
    await sender.setParameters(parameters);
  }

  // Slots that have learnt to be late, and are silent, begin anew
  async forget() {
    const totals = new Map();
    for (const slot of this.slots) {
      const stats = [...(await slot.receiver.getStats()).values()].find(
        s => s.type === 'inbound-rtp');
      if (stats) totals.set(slot, {packets: stats.packetsReceived,
        emitted: stats.jitterBufferEmittedCount, target: stats.jitterBufferTargetDelay,
        delay: stats.jitterBufferDelay});
    }
    const slots = this.lateness.look(totals);
    if (slots.length) await this.renew(slots);
  }

  // Other receivers in these slots: the offer once without them and once as it was, which
  // takes 5 to 30 ms.  The server need not know.  One such pair after the other.
  renew(slots) {
    this.renewed = this.renewed.catch(() => {}).then(async () => {
      const offer = this.connection.remoteDescription.sdp;
      const mids = slots.map(slot => this.connection.getTransceivers().find(
        t => t.receiver === slot.receiver).mid);
      const without = offer.split(/^(?=m=)/m).map(media =>
        mids.includes(/^a=mid:(.*?)\r?$/m.exec(media)?.[1]) ?
          media.replace(/^a=sendrecv/m, 'a=recvonly').replace(/^a=sendonly/m, 'a=inactive') :
          media).join('');
      for (const sdp of [without, offer]) {
        await this.connection.setRemoteDescription({type: 'offer', sdp});
        await this.connection.setLocalDescription();
      }
    });
    return this.renewed;
  }

  gathered(patienceMs) {
    return new Promise(resolve => {
      const look = () => this.connection.iceGatheringState === 'complete' && resolve();
      this.connection.onicegatheringstatechange = look;
      setTimeout(resolve, patienceMs);
      look();
    });
  }

  add(event) {
    if (this.slots.some(slot => slot.receiver === event.receiver)) return;      // renewed
    const stream = new MediaStream([event.track]);
    const element = new Audio();        // Chromium decodes for an element only
    element.muted = true;
    element.srcObject = stream;
    element.play().catch(() => {});
    const source = this.context.createMediaStreamSource(stream);
    const place = new PannerNode(this.context, {panningModel: 'HRTF',
      distanceModel: 'inverse', refDistance: 1, rolloffFactor: 0.3,
      positionX: 0, positionZ: -1});
    source.connect(place).connect(this.context.destination);
    this.slots.push({receiver: event.receiver, meter: this.meter(source), place, element});
  }

  // Of each slot the SSRCs of people that are heard now: a talker, or a mix's contributors.
  // A mix too narrow for names has none of theirs.
  heard() {
    const told = this.slots.map(slot => slot.receiver.getContributingSources().map(s =>
      ({ssrc: s.source, at: s.timestamp % performance.timeOrigin})));     // or since then
    return fresh(told, performance.now()).map(slot => slot.filter(this.isThere));
  }

  // x to the right, y away from the listener, in table radii
  move(slot, x, y) {
    const soon = this.context.currentTime + 0.1;
    slot.place.positionX.linearRampToValueAtTime(x, soon);
    slot.place.positionZ.linearRampToValueAtTime(-y, soon);
  }

  mute(on) {
    for (const track of this.microphone?.getTracks() ?? []) track.enabled = !on;
  }

  close() {
    clearInterval(this.following);
    this.connection?.close();
    this.microphone?.getTracks().forEach(track => track.stop());
    this.context.close();
  }
}
