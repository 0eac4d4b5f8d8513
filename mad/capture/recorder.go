// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"encoding/binary"
	"io"
	"sync"
	"time"

	"example.org/ibconsole/mad"
)

const (
	flushEvery = time.Second
	flushAt    = 1 << 16     // bytes
	maxPending = 16 << 20    // bytes that may wait for a slow disk
	lastWrite  = time.Second // how long the reader of a pipe has for the rest
)

// Stats count the MADs of a capture.
type Stats struct {
	Sent     uint64
	Received uint64
	Lost     uint64 // not in the file, after an error or because of a slow disk
}

// partners is the maximum number of requests whose destinations are remembered. A [mad.Client] has at most as many
// requests in flight, and distinguishes them by the lowest bits of the transaction ID.
const partners = mad.MaxWindow

type partner struct {
	tid uint32
	lid uint16
}

// sink is the interface of the file.
type sink interface {
	io.WriteCloser
	Truncate(size int64) error
	SetWriteDeadline(time.Time) error
}

// recorder owns a file and the goroutine that writes to the file. The goroutine is separate so that a slow disk does
// not delay traffic.
type recorder struct {
	file    sink
	path    string
	onError func(error)
	keys    [][keyLen]byte
	wake    chan struct{} // has capacity 1
	quit    chan struct{}
	done    chan struct{}

	mu      sync.Mutex
	pending []byte // whole records
	stats   Stats
	err     error
	closed  bool
	asked   [partners]partner

	size int64 // of the file; used by the writing goroutine
}

// record starts a recorder for a file of size bytes.
func record(file sink, path string, size int64, opts Options) *recorder {
	r := &recorder{
		file: file, path: path, size: size, onError: opts.OnError, keys: bytesOf(opts.Keys),
		wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}
	go r.write()
	return r
}

// stop writes the pending records and closes the file. It returns the error of writing unless onError has received it.
func (r *recorder) stop() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	_ = r.file.SetWriteDeadline(time.Now().Add(lastWrite)) // only pipes support it
	close(r.quit)
	<-r.done
	err := r.file.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil && err != nil {
		return failed(r.path, err)
	}
	if r.onError != nil {
		return nil
	}
	return r.err
}

func (r *recorder) counts() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stats
}

// sent records a frame that a port sends. The argument own is the LID of the port.
func (r *recorder) sent(f *mad.Frame, own uint16) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.stats.Sent++
	tid := tidOf(f)
	r.asked[tid%partners] = partner{tid, f.DLID}
	r.add(f, own, f.DLID)
}

// received records a frame that a port received. The argument own is the LID of the port.
func (r *recorder) received(f *mad.Frame, own uint16) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.stats.Received++
	from := f.SLID
	if tid := tidOf(f); from == 0 && r.asked[tid%partners].tid == tid {
		from = r.asked[tid%partners].lid
	}
	r.add(f, from, own)
}

func tidOf(f *mad.Frame) uint32 { return binary.BigEndian.Uint32(f.Data[mad.OffTID+4:]) }

func (r *recorder) add(f *mad.Frame, slid, dlid uint16) {
	if r.err != nil || len(r.pending) > maxPending-recordLen {
		r.stats.Lost++
		return
	}
	p := packet{at: time.Now(), slid: slid, dlid: dlid, sl: f.SL, mad: &f.Data}
	if mad.Class(f.Data[mad.OffClass]) == mad.ClassSMPDirected {
		p.slid, p.dlid = mad.PermissiveLID, mad.PermissiveLID
	}
	at := len(r.pending)
	r.pending = p.appendRecord(r.pending)
	m := (*[mad.Size]byte)(r.pending[at+madAt:])
	hide(m)
	hideKeys(m[:], r.keys)
	if at < flushAt && len(r.pending) >= flushAt {
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
}

// write writes pending records to the file until the recorder is stopped.
func (r *recorder) write() {
	defer close(r.done)
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	var spare []byte
	for more := true; more; {
		select {
		case <-tick.C:
		case <-r.wake:
		case <-r.quit:
			more = false
		}
		spare = r.flush(spare)
	}
}

// flush writes the pending records to the file. The slice spare becomes the new buffer.
func (r *recorder) flush(spare []byte) []byte {
	r.mu.Lock()
	out := r.pending
	r.pending = spare[:0]
	r.mu.Unlock()
	if len(out) == 0 {
		return out
	}
	n, err := r.file.Write(out)
	whole := n / recordLen
	r.size += int64(whole) * recordLen
	if err != nil {
		_ = r.file.Truncate(r.size) // leave no partial record
		r.fail(failed(r.path, err), len(out)/recordLen-whole)
	}
	return out
}

// fail ends the recording because of an error. The traffic continues.
func (r *recorder) fail(err error, lost int) {
	r.mu.Lock()
	first := r.err == nil
	if first {
		r.err = err
	}
	r.stats.Lost += uint64(lost + len(r.pending)/recordLen)
	r.pending = nil
	r.mu.Unlock()
	if first && r.onError != nil {
		r.onError(err)
	}
}
