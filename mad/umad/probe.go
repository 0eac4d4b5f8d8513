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

// probeResult holds the results of opening and using a port.
type probeResult struct {
	smi, gsi error // why there is no agent
	self     error // why the port did not answer its own SMP
	// after is the time after which a request to an unused address was returned by the kernel, was answered, or failed.
	after    time.Duration
	answered bool
	unused   error
	closing  error // error of closing
}

const (
	probeLimit = 3 * time.Second        // ends a probe whose packets the kernel does not return
	askLimit   = 200 * time.Millisecond // timeout of a request
)

// probe opens a port, tries requests, and closes the port.
func probe(ctx context.Context, root string, p Port, h *HeldDevices) (probeResult, error) {
	var s probeResult
	t, err := Open(root, p, Options{Held: h})
	if err != nil {
		return s, err
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = t.Close() })
	defer stop()
	s.smi, s.gsi = t.Refused(mad.ClassSMPDirected), t.Refused(mad.ClassPerf)
	if s.smi == nil {
		_, s.self = t.askSelf(ctx)
	}
	if s.gsi == nil && p.State == mad.PortActive {
		s.after, s.answered, s.unused = t.askUnusedAddress(ctx)
	}
	s.closing = t.Close()
	return s, nil
}

// askSelf reads NodeInfo from the port's own node.
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

// unusedLID is the highest LID, which is not in use unless somebody has assigned it on purpose. The GID of the request
// is the link-local address for the MAC address 00-00-5e-00-53-00. RFC 7042, 2.1.2, reserves this address for
// documentation. If a node does receive the request, it sees an ordinary Get of performance management.
const unusedLID = mad.LastUnicastLID

var unusedGID = [16]byte{0xfe, 0x80, 8: 0x02, 0x00, 0x5e, 0xff, 0xfe, 0x00, 0x53, 0x00}

// askUnusedAddress sends a request that no node answers, and waits until the kernel returns the request.
func (t *Transport) askUnusedAddress(ctx context.Context) (after time.Duration, answered bool, err error) {
	h := header{lid: unusedLID}
	if t.port.LinkLayer != InfiniBand {
		h.lid, h.gid = 0, unusedGID
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

// ask sends f and waits until the request is answered or returned. Then it stores the result in f.
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
				return errors.Join(fmt.Errorf("no packet from the kernel within %v", probeLimit), ctx.Err())
			}
			return err
		}
		if tid() == want {
			return nil
		}
	}
}
