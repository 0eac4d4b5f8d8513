// SPDX-License-Identifier: Apache-2.0

package umad

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"example.org/ibconsole/mad"
)

// ErrGone reports that an adapter was removed or its driver was unloaded.
var ErrGone = fmt.Errorf("the adapter is gone, %w", mad.ErrBroken)

// Options controls how a port is opened.
type Options struct {
	// Traps registers for the traps of the port. The kernel passes the traps of a port to a single program, normally to
	// a local subnet manager. If another program gets the traps, [Transport.NoTraps] returns an error, and everything
	// else works.
	Traps bool
	// Held holds devices that this process may no longer open. It may be nil.
	Held *HeldDevices
}

// Transport is a port of an adapter. It implements [mad.Interrupter].
type Transport struct {
	port    Port
	pKey    uint16  // index of the default P_Key when it was opened
	dev     *device // for SMPs, and for everything unless dev.general is set
	agents  [4]agent
	noTraps error

	sending sync.Mutex
	out     [packetSize]byte

	receiving sync.Mutex
	in        [receiveSize]byte
	standIn   atomic.Bool // libumad2sim answers instead of a kernel
}

// Open opens a port for subnet management, subnet administration and performance management. Open fails only if no
// queue pair of the port can be used. If a single queue pair cannot be used, [Transport.Refused] reports it.
func Open(root string, p Port, opts Options) (*Transport, error) {
	t, err := open(root, p, opts)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", p, err)
	}
	return t, nil
}

func open(root string, p Port, opts Options) (*Transport, error) {
	if err := checkABI(root); err != nil {
		return nil, err
	}
	t := &Transport{port: p, agents: newAgents()}
	t.pKey, _ = p.DefaultPKey()
	for _, name := range p.devices() {
		if err := t.openDevice(root, name, opts.Held); err != nil {
			return nil, errors.Join(err, t.Close())
		}
	}
	if err := t.register(opts.Traps); err != nil {
		if t.dev.held != nil {
			err = fmt.Errorf("%w: %w", ErrHeldGone, err)
		}
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// openDevice opens a device of the port: first the device for all queue pairs or for SMPs, then the device of the
// general services.
func (t *Transport) openDevice(root, name string, held *HeldDevices) error {
	if name == "" {
		return errors.New("the kernel has no umad device for the port (is the module ib_umad loaded?)")
	}
	d, err := openDevice(devicePath(root, name), held)
	if err != nil {
		return err
	}
	if t.dev == nil {
		t.dev = d
	} else {
		t.dev.general = d
	}
	if err := d.usePKeys(); err != nil {
		return fmt.Errorf("%s: ask for P_Key indexes: %w", d.path, err)
	}
	return nil
}

// register registers an agent for each class. It fails if the kernel refuses all agents.
func (t *Transport) register(traps bool) error {
	var refused error
	made := 0
	for i := range t.agents {
		a := &t.agents[i]
		switch d := t.device(a); {
		case a.class == mad.ClassSMPLID && t.dev.general != nil:
			if a.err = ErrDirectedOnly; traps {
				t.noTraps = ErrDirectedOnly
			}
			continue
		case a.class == mad.ClassSMPLID && traps:
			t.noTraps = a.registerForTraps(d)
		default:
			a.register(d)
		}
		switch {
		case a.err == nil:
			made++
		case refused == nil:
			refused = fmt.Errorf("%s: %w", t.device(a).path, a.err)
		}
	}
	if made > 0 {
		return nil
	}
	return refused
}

// device returns the device of an agent.
func (t *Transport) device(a *agent) *device {
	if a.qp == mad.QP1 && t.dev.general != nil {
		return t.dev.general
	}
	return t.dev
}

// Port returns the state that the port had when Open opened it.
func (t *Transport) Port() Port { return t.port }

// NoTraps returns an error if the requested traps cannot arrive, otherwise nil. The error wraps [ErrRefused].
func (t *Transport) NoTraps() error { return t.noTraps }

// Refused returns an error if MADs of a class cannot be sent, otherwise nil. The error wraps [ErrRefused] and the
// kernel's errno: EPROTONOSUPPORT if the link layer has no such queue pair.
func (t *Transport) Refused(class mad.Class) error {
	a, err := t.agent(class)
	if err != nil {
		return err
	}
	return a.err
}

func (t *Transport) agent(class mad.Class) (*agent, error) {
	for i := range t.agents {
		if a := &t.agents[i]; a.class == class {
			return a, nil
		}
	}
	return nil, fmt.Errorf("class 0x%02x is not sent over umad", uint8(class))
}

// Send implements [mad.Transport]. Send never blocks. A frame of the general services with P_Key index 0 is sent with
// the index of the default partition. If the adapter was removed, the error wraps [ErrGone].
func (t *Transport) Send(f *mad.Frame) error {
	h := header{timeout: milliseconds(f.Timeout), qp: f.QP, lid: f.DLID, sl: f.SL, pkey: f.PKey}
	if f.QP != 0 && f.PKey == 0 {
		h.pkey = t.pKey
	}
	return t.send(&h, &f.Data)
}

// send sends data as the agent of its class. It does not send acknowledgements of segments to libumad2sim, because
// libumad2sim ignores acknowledgements.
func (t *Transport) send(h *header, data *[mad.Size]byte) error {
	if t.standIn.Load() && mad.ControlsSegments(data) {
		return nil
	}
	a, err := t.agent(mad.Class(data[1]))
	if err == nil {
		err = a.err
	}
	if err != nil {
		return fmt.Errorf("%v: %w", t.port, err)
	}
	h.agent, h.qp = a.id, a.qp
	t.sending.Lock()
	defer t.sending.Unlock()
	h.encode((*[headerSize]byte)(t.out[:]))
	copy(t.out[headerSize:], data[:])
	switch err := t.device(a).write(t.out[:]); {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.ENOMEM), errors.Is(err, unix.ENOBUFS):
		return nil // dropped, as by a switch without buffer space
	case err != nil:
		return t.broken("send", err)
	}
	return nil
}

// Recv implements [mad.Transport]. A request that gets no answer in time is returned with the status ETIMEDOUT,
// possibly with only the header of its data. Packets that are not MADs of 256 bytes are ignored.
func (t *Transport) Recv(f *mad.Frame) error {
	t.receiving.Lock()
	defer t.receiving.Unlock()
	for {
		b, err := readPacket(t.dev.read, t.in[:])
		if errors.Is(err, mad.ErrInterrupted) {
			return err
		}
		if err != nil {
			return t.broken("receive", err)
		}
		if decodePacket(b, f) {
			if len(b) != packetSize && f.Status == 0 {
				t.standIn.Store(true)
			}
			return nil
		}
	}
}

// readPacket reads a packet into a buffer. If the kernel reports that the packet is longer, the packet stays queued,
// and readPacket reads it again into a larger buffer.
func readPacket(read func([]byte) (int, error), in []byte) ([]byte, error) {
	n, err := read(in)
	if errors.Is(err, unix.ENOSPC) {
		length := int64(binary.NativeEndian.Uint32(in[offLength:]))
		if length <= int64(len(in)) || length > mad.DefaultLimit {
			return nil, fmt.Errorf("a packet of %d bytes does not fit into a buffer of %d bytes: %w", length, len(in),
				err)
		}
		in = make([]byte, length)
		n, err = read(in)
	}
	if err != nil {
		return nil, err
	}
	return in[:n], nil
}

// Interrupt implements [mad.Interrupter].
func (t *Transport) Interrupt() bool {
	t.dev.interrupt()
	return true
}

func (t *Transport) broken(what string, err error) error {
	gone := []error{unix.EIO, unix.ENODEV, unix.ENXIO, unix.EPIPE, io.ErrUnexpectedEOF}
	if slices.ContainsFunc(gone, func(e error) bool { return errors.Is(err, e) }) {
		err = fmt.Errorf("%w: %w", ErrGone, err)
	}
	return fmt.Errorf("%v: %s: %w", t.port, what, err)
}

// Close releases the agents and closes the device. Further calls do nothing.
func (t *Transport) Close() error {
	if t.dev == nil {
		return nil
	}
	var errs []error
	err := t.dev.close(func() {
		for i := range t.agents {
			errs = append(errs, t.agents[i].release(t.device(&t.agents[i])))
		}
		if general := t.dev.general; general != nil {
			errs = append(errs, general.close(func() {}))
		}
	})
	if err = errors.Join(append(errs, err)...); err != nil {
		return fmt.Errorf("%v: close: %w", t.port, err)
	}
	return nil
}
