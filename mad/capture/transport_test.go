// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/mad"
)

func request(lid uint16, tid uint32) mad.Frame {
	smp := mad.SMP{
		BaseVersion: 1, Class: mad.ClassSMPLID, ClassVersion: 1, Method: mad.MethodGet, Attr: mad.AttrNodeInfo,
		TID: uint64(tid),
	}
	f := mad.Frame{DLID: lid}
	smp.Put(&f.Data)
	return f
}

// answerTo returns the answer to a frame, from SLID 0: the transport does not know the source.
func answerTo(f mad.Frame) mad.Frame {
	f.DLID = 0
	f.Data[mad.OffMethod] = uint8(mad.MethodGetResp)
	return f
}

// lids returns the LIDs of a packet.
func lids(packet []byte) [2]uint16 {
	return [2]uint16{binary.BigEndian.Uint16(packet[6:]), binary.BigEndian.Uint16(packet[2:])}
}

// TestLIDs checks that answers come from the requested LID if the transport does not know the source, and that the own
// LID is learned from PortInfo.
func TestLIDs(t *testing.T) {
	l := newLine()
	tr := Wrap(l)
	tr.SetLID(3)
	file := start(t, tr)
	for tid := range uint32(40) {
		f := request(uint16(100+tid), tid<<6)
		if err := tr.Send(&f); err != nil {
			t.Fatal(err)
		}
	}
	first, other := request(100, 0), request(102, 2<<6)
	l.arrive(t, tr, answerTo(other))
	l.arrive(t, tr, answerTo(first))
	stray := answerTo(request(0, 9999))
	l.arrive(t, tr, stray)
	stray.SLID = 55
	l.arrive(t, tr, stray)

	info := mad.PortInfo{LID: 8}
	smp := mad.SMP{Method: mad.MethodGetResp, Attr: mad.AttrPortInfo, Data: mad.Data(&info), Mod: 1 << 31}
	smp.SetPath(mad.Path{})
	smp.Direction = true
	var own mad.Frame
	smp.Put(&own.Data)
	l.arrive(t, tr, own)
	l.arrive(t, tr, answerTo(first))
	elsewhere, err := mad.Path{}.Append(1)
	if err != nil {
		t.Fatal(err)
	}
	info.LID = 9
	smp.Data = mad.Data(&info)
	smp.SetPath(elsewhere)
	smp.Put(&own.Data)
	l.arrive(t, tr, own)
	l.arrive(t, tr, answerTo(first))
	stop(t, tr)

	packets := records(t, file)[40:]
	permissive := [2]uint16{mad.PermissiveLID, mad.PermissiveLID}
	for i, want := range [][2]uint16{{102, 3}, {100, 3}, {0, 3}, {55, 3}, permissive, {100, 8}, permissive, {100, 8}} {
		if got := lids(packets[i]); got != want {
			t.Errorf("answer %d: LIDs %d, want %d", i, got, want)
		}
	}
}

// TestHandedBack checks that a request returned by the transport is not captured.
func TestHandedBack(t *testing.T) {
	l := newLine()
	tr := Wrap(l)
	file := start(t, tr)
	back := request(4, 1)
	back.Status = uint32(syscall.ETIMEDOUT)
	l.arrive(t, tr, back)
	if stats := stop(t, tr); stats != (Stats{}) || len(records(t, file)) != 0 {
		t.Errorf("%+v, want nothing", stats)
	}
}

// TestOnAndOff checks that the file and the counts contain the traffic between Start and Stop.
func TestOnAndOff(t *testing.T) {
	tr := Wrap(newLine())
	carry := func(n int) {
		for range n {
			f := request(1, 1)
			if err := tr.Send(&f); err != nil {
				t.Fatal(err)
			}
		}
	}
	if stats := stop(t, tr); stats != (Stats{}) {
		t.Errorf("stopped before it began: %+v", stats)
	}
	carry(2)
	for _, n := range []int{3, 0, 5000} {
		file := start(t, tr)
		if path, on := tr.Capturing(); path != file || !on {
			t.Errorf("capturing to %q (%v)", path, on)
		}
		if err := tr.Start(file+"2", Options{}); !errors.Is(err, ErrRunning) || !strings.Contains(err.Error(), file) {
			t.Errorf("a second capture: %v", err)
		}
		carry(n)
		if got := tr.Stats(); got.Sent != uint64(n) {
			t.Errorf("%+v, want %d sent", got, n)
		}
		stop(t, tr)
		carry(1)
		if got, there := tr.Stats(), len(records(t, file)); got.Sent != uint64(n) || there != n {
			t.Errorf("%+v and %d packets, want %d", got, there, n)
		}
		if _, on := tr.Capturing(); on {
			t.Error("still capturing")
		}
	}
}

// TestFlush checks that a running capture can be read.
func TestFlush(t *testing.T) {
	tr := Wrap(newLine())
	file := start(t, tr)
	f := request(1, 1)
	if err := tr.Send(&f); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(5 * time.Minute); len(records(t, file)) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nothing in the file")
		}
	}
	stop(t, tr)
}

// TestFiles checks which files are created, replaced and left unchanged.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "there")
	if err := os.WriteFile(there, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("there", link); err != nil {
		t.Fatal(err)
	}
	tr := Wrap(newLine())
	for _, test := range []struct {
		path      string
		overwrite bool
		want      error
	}{
		{there, false, fs.ErrExist},
		{link, false, fs.ErrExist},
		{dir, true, syscall.EISDIR},
		{filepath.Join(dir, "no", "such"), false, fs.ErrNotExist},
		{filepath.Join(dir, "no", "such"), true, fs.ErrNotExist},
	} {
		err := tr.Start(test.path, Options{Overwrite: test.overwrite})
		if !errors.Is(err, test.want) || strings.Count(err.Error(), test.path) != 1 {
			t.Errorf("%s: %v, want %v", test.path, err, test.want)
		}
	}
	if b, err := os.ReadFile(there); err != nil || string(b) != "precious" {
		t.Errorf("%q (%v)", b, err)
	}
	if err := tr.Start(link, Options{Overwrite: true}); err != nil {
		t.Fatal(err)
	}
	f := request(1, 1)
	if err := tr.Send(&f); err != nil {
		t.Fatal(err)
	}
	stop(t, tr)
	if n := len(records(t, there)); n != 1 {
		t.Errorf("%d packets, want 1", n)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the symbolic link is gone: %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v (%v), expected no temporary files", entries, err)
	}
}

// TestPipe checks that a reader of a pipe gets the capture, that Start fails without a reader, and that a reader that
// reads nothing does not block traffic.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	tr := Wrap(newLine())
	if err := tr.Start(path, Options{}); !errors.Is(err, syscall.ENXIO) {
		t.Fatalf("a pipe without a reader: %v", err)
	}
	reader, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := tr.Start(path, Options{}); err != nil {
		t.Fatal(err)
	}
	const n = 1000 // more than a pipe holds
	for range n {
		f := request(1, 1)
		if err := tr.Send(&f); err != nil {
			t.Fatal(err)
		}
	}
	stats, err := tr.Stop()
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a pipe that is full: %v", err)
	}
	b, err := io.ReadAll(reader)
	if err != nil || !bytes.HasPrefix(b, appendFileHeader(nil)) {
		t.Fatalf("%d bytes (%v)", len(b), err)
	}
	if whole := (len(b) - fileHeaderLen) / recordLen; stats.Sent != n || stats.Sent-stats.Lost != uint64(whole) {
		t.Errorf("%+v, but %d packets came through", stats, whole)
	}
}

// disk is a file on a disk with space for so many bytes.
type disk struct {
	bytes.Buffer
	space  int
	closed bool
}

var errFull = errors.New("disk full")

func (d *disk) Write(b []byte) (int, error) {
	if len(b) > d.space {
		n, _ := d.Buffer.Write(b[:d.space])
		d.space = 0
		return n, errFull
	}
	d.space -= len(b)
	return d.Buffer.Write(b)
}

func (d *disk) Truncate(size int64) error        { d.Buffer.Truncate(int(size)); return nil }
func (d *disk) SetWriteDeadline(time.Time) error { return os.ErrNoDeadline }
func (d *disk) Close() error                     { d.closed = true; return nil }

// TestFullDisk checks that traffic continues on a full disk, the error is reported once, the file contains complete
// records, and missing ones are counted.
func TestFullDisk(t *testing.T) {
	for _, listening := range []bool{true, false} {
		l := newLine()
		tr := Wrap(l)
		d := &disk{space: 100*recordLen + recordLen/2}
		reported := make(chan error, 10)
		var onError func(error)
		if listening {
			onError = func(err error) { reported <- err }
		}
		tr.on.Store(record(d, "somewhere", 0, Options{OnError: onError}))
		const n = 2000
		for i := range uint32(n) {
			f := request(5, i)
			if err := tr.Send(&f); err != nil {
				t.Fatal(err)
			}
			l.arrive(t, tr, answerTo(f))
		}
		stats, err := tr.Stop()
		close(reported)
		var errs []error
		for e := range reported {
			errs = append(errs, e)
		}
		if err != nil {
			errs = append(errs, err)
		}
		if len(errs) != 1 || !errors.Is(errs[0], errFull) || (err == nil) != listening {
			t.Errorf("listening %v: errors %v and %v", listening, errs, err)
		}
		if want := (Stats{Sent: n, Received: n, Lost: 2*n - 100}); stats != want {
			t.Errorf("%+v, want %+v", stats, want)
		}
		if d.Len() != 100*recordLen || !d.closed {
			t.Errorf("%d bytes, closed %v; want 100 whole records", d.Len(), d.closed)
		}
	}
}

// TestDeviceFull starts a capture to a device that is always full.
func TestDeviceFull(t *testing.T) {
	tr := Wrap(newLine())
	if err := tr.Start("/dev/full", Options{}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a capture to a full device: %v", err)
	}
}

// TestStuckDisk checks that records which a stuck disk does not take are dropped beyond a limit.
func TestStuckDisk(t *testing.T) {
	r := &recorder{}
	f := request(1, 1)
	const fits = maxPending / recordLen
	for range fits + 10 {
		r.sent(&f, 1)
	}
	if r.stats != (Stats{Sent: fits + 10, Lost: 10}) {
		t.Errorf("%+v, want 10 lost", r.stats)
	}
}

// TestConcurrent starts and stops captures during traffic.
func TestConcurrent(t *testing.T) {
	l := newLine()
	tr := Wrap(l)
	dir := t.TempDir()
	var running sync.WaitGroup
	for g := range uint32(4) {
		running.Go(func() {
			for i := range uint32(3000) {
				f := request(uint16(g+1), g<<16|i)
				_ = tr.Send(&f)
				l.in <- answerTo(f)
				var got mad.Frame
				_ = tr.Recv(&got)
			}
		})
	}
	var total uint64
	for i := range 20 {
		path := filepath.Join(dir, string(rune('a'+i)))
		if err := tr.Start(path, Options{}); err != nil {
			t.Fatal(err)
		}
		stats := stop(t, tr)
		if n := uint64(len(records(t, path))); n != stats.Sent+stats.Received || stats.Lost != 0 {
			t.Errorf("%d packets, want %+v", n, stats)
		}
		total += stats.Sent
	}
	running.Wait()
	t.Logf("%d sent while capturing", total)
}

// TestClose ends the capture and the transport.
func TestClose(t *testing.T) {
	tr := Wrap(newLine())
	file := start(t, tr)
	f := request(1, 1)
	if err := tr.Send(&f); err != nil {
		t.Fatal(err)
	}
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
	if n := len(records(t, file)); n != 1 {
		t.Errorf("%d packets, want 1", n)
	}
}

// BenchmarkSend measures the cost of a frame with the capture off and on.
func BenchmarkSend(b *testing.B) {
	f := request(1, 1)
	for _, on := range []bool{false, true} {
		name := "off"
		if on {
			name = "on"
		}
		b.Run(name, func(b *testing.B) {
			tr := Wrap(newLine())
			if on {
				if err := tr.Start(filepath.Join(b.TempDir(), "capture"), Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				_ = tr.Send(&f)
			}
			stats, err := tr.Stop()
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(stats.Lost), "lost")
		})
	}
}
