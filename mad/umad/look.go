// SPDX-License-Identifier: Apache-2.0

package umad

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"example.org/ibconsole/mad"
)

// sight is what opening a port showed.
type sight struct {
	smi, gsi error // why there is no agent
	own      error // why the port did not answer its own SMP
	// A request to nobody came back by the kernel after so long, was answered, or failed.
	after    time.Duration
	answered bool
	nobody   error
	closed   error // what closing said
}

const (
	lookLimit = 3 * time.Second        // ends what a kernel keeps to itself
	askLimit  = 200 * time.Millisecond // how long an answer may take
)

// look opens a port, tries it and closes it.
func look(ctx context.Context, root string, p Port, h *Held) (sight, error) {
	var s sight
	t, err := Open(root, p, Options{Held: h})
	if err != nil {
		return s, err
	}
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = t.Close() })
	defer stop()
	s.smi, s.gsi = t.Refused(mad.ClassSMPDirected), t.Refused(mad.ClassPerf)
	if s.smi == nil {
		_, s.own = t.askSelf(ctx)
	}
	if s.gsi == nil && p.State == mad.PortActive {
		s.after, s.answered, s.nobody = t.askNobody(ctx)
	}
	s.closed = t.Close()
	return s, nil
}

// askSelf asks the port's own node for NodeInfo.
func (t *Transport) askSelf(ctx context.Context) (mad.NodeInfo, error) {
	var info mad.NodeInfo
	smp := mad.SMP{BaseVersion: 1, ClassVersion: 1, Method: mad.MethodGet, Attr: mad.AttrNodeInfo, TID: 1}
	smp.SetPath(mad.Path{})
	f := mad.Frame{DLID: mad.PermissiveLID}
	smp.Put(&f.Data)
	err := t.ask(ctx, &header{lid: mad.PermissiveLID}, &f)
	if err == nil && f.Status != 0 {
		err = unix.Errno(f.Status)
	}
	if err == nil {
		err = smp.UnmarshalBinary(f.Data[:])
	}
	if err == nil && smp.Status != mad.StatusOK {
		err = smp.Status
	}
	if err == nil {
		err = info.UnmarshalBinary(smp.Data[:])
	}
	return info, err
}

// Nobody is behind the highest LID, unless it was given on purpose, nor behind a MAC address that RFC 7042,
// 2.1.2, sets apart for documents: the GID is the link-local address made of 00-00-5e-00-53-00. Would
// somebody answer after all, it were a question of performance management like any other.
const nobodyLID = mad.LastUnicastLID

var nobodyGID = [16]byte{0xfe, 0x80, 8: 0x02, 0x00, 0x5e, 0xff, 0xfe, 0x00, 0x53, 0x00}

// askNobody sends a request that is not answered and waits for the kernel to give it back.
func (t *Transport) askNobody(ctx context.Context) (after time.Duration, answered bool, err error) {
	h := header{lid: nobodyLID}
	if t.port.LinkLayer != InfiniBand {
		h.lid, h.gid = 0, nobodyGID
	}
	smp := mad.SMP{
		BaseVersion: 1, Class: mad.ClassPerf, ClassVersion: 1, Method: mad.MethodGet, Attr: mad.AttrClassPortInfo,
		TID: 2,
	}
	var f mad.Frame
	smp.Put(&f.Data)
	start := time.Now()
	err = t.ask(ctx, &h, &f)
	if err == nil && f.Status != 0 && unix.Errno(f.Status) != unix.ETIMEDOUT {
		err = unix.Errno(f.Status)
	}
	return time.Since(start), f.Status == 0, err
}

// ask sends f and waits until it is answered or given back, which then is in f.
func (t *Transport) ask(ctx context.Context, h *header, f *mad.Frame) error {
	tid := func() uint32 { return binary.BigEndian.Uint32(f.Data[12:]) }
	h.timeout = milliseconds(askLimit)
	want := tid()
	if err := t.send(h, &f.Data); err != nil {
		return err
	}
	for {
		if err := t.Recv(f); err != nil {
			if ctx.Err() != nil {
				return errors.Join(fmt.Errorf("the kernel said nothing for %v", lookLimit), ctx.Err())
			}
			return err
		}
		if tid() == want {
			return nil
		}
	}
}
