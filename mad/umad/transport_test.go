// SPDX-License-Identifier: Apache-2.0

package umad

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
)

// onSocket returns a transport whose device is one end of a sequenced-packet socket, which preserves packets as a
// device does; the other end is the kernel's. No agent is registered, because sockets do not support the ioctl.
func onSocket(t *testing.T) (tr *Transport, kernel int) {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	wake, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	tr = &Transport{port: Port{CA: "test0", Number: 1}, dev: &device{path: "socket", fd: pair[0], wake: wake},
		agents: newAgents()}
	var once sync.Once
	t.Cleanup(func() {
		_ = tr.Close()
		once.Do(func() { _ = unix.Close(pair[1]) })
	})
	return tr, pair[1]
}

func TestSendAndReceive(t *testing.T) {
	tr, kernel := onSocket(t)
	tr.agents[1].id = 9
	f := mad.Frame{DLID: mad.PermissiveLID, QP: 77, Timeout: 1}
	f.Data[1], f.Data[255] = 0x81, 5
	if err := tr.Send(&f); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4096)
	n, err := unix.Read(kernel, b)
	if err != nil || n != packetSize {
		t.Fatalf("%d bytes were written, %v", n, err)
	}
	var h header
	h.decode((*[headerSize]byte)(b))
	if want := (header{agent: 9, timeout: 1, lid: 0xffff}); h != want {
		t.Errorf("header %+v, want %+v", h, want)
	}
	for _, p := range [][]byte{b[:3], make([]byte, 2000), packet(h, 0, b[headerSize:packetSize])} {
		if _, err := unix.Write(kernel, p); err != nil {
			t.Fatal(err)
		}
	}
	var got mad.Frame
	if err := tr.Recv(&got); err != nil || got.Data != f.Data {
		t.Errorf("received %+v, %v", got, err)
	}
}

// TestReadPacket checks that a read into a buffer that is too small, which returns ENOSPC and the length in the header,
// is repeated with a larger one (ib_umad_read of user_mad.c).
func TestReadPacket(t *testing.T) {
	long := packet(header{agent: 3}, 0, bytes.Repeat([]byte{7}, 5000))
	binary.NativeEndian.PutUint32(long[offLength:], uint32(len(long)))
	reads := 0
	kernel := func(b []byte) (int, error) {
		reads++
		if n := copy(b, long); n < len(long) {
			return -1, unix.ENOSPC
		}
		return len(long), nil
	}
	if got, err := readPacket(kernel, make([]byte, packetSize)); err != nil || !bytes.Equal(got, long) || reads != 2 {
		t.Errorf("%d bytes after %d reads, %v", len(got), reads, err)
	}
	for _, length := range []uint32{packetSize, 1 << 31} {
		reads = 0
		binary.NativeEndian.PutUint32(long[offLength:], length)
		if _, err := readPacket(kernel, make([]byte, packetSize)); !errors.Is(err, unix.ENOSPC) || reads != 1 {
			t.Errorf("length %d: %d reads, %v", length, reads, err)
		}
	}
}

func TestSendRefused(t *testing.T) {
	tr, _ := onSocket(t)
	tr.agents[1].err = errors.Join(ErrRefused, unix.EPROTONOSUPPORT)
	var f mad.Frame
	for class, want := range map[uint8]error{0x81: unix.EPROTONOSUPPORT, 0x04: nil, 0x03: nil, 0x01: nil} {
		f.Data[1] = class
		if err := tr.Send(&f); !errors.Is(err, want) || errors.Is(err, mad.ErrBroken) {
			t.Errorf("class 0x%02x: %v, want %v", class, err, want)
		}
		if err := tr.Refused(mad.Class(class)); !errors.Is(err, want) {
			t.Errorf("class 0x%02x: %v, want %v", class, err, want)
		}
	}
	f.Data[1] = 0x32
	if err := tr.Send(&f); err == nil {
		t.Error("a class without an agent was sent")
	}
}

// TestSendWithoutSpace checks that a frame without buffer space is dropped.
func TestSendWithoutSpace(t *testing.T) {
	tr, _ := onSocket(t)
	var f mad.Frame
	f.Data[1] = 0x81
	for range 10000 {
		if err := tr.Send(&f); err != nil {
			t.Fatal(err)
		}
	}
	if err := tr.dev.write(f.Data[:]); !errors.Is(err, unix.EAGAIN) {
		t.Errorf("there is space for 10,000 frames: %v", err)
	}
}

// TestPKeyIndex checks that the default partition need not be the first of the table.
func TestPKeyIndex(t *testing.T) {
	tr, kernel := onSocket(t)
	tr.pKey, _ = Port{PKeys: []uint16{0x8001, 0, 0xffff}}.DefaultPKey()
	b := make([]byte, packetSize)
	for _, c := range []struct {
		class mad.Class
		qp    uint32
		index uint16
		want  uint16
	}{{mad.ClassPerf, 1, 0, 2}, {mad.ClassSA, 1, 1, 1}, {mad.ClassSMPLID, 0, 0, 0}} {
		f := mad.Frame{DLID: 5, QP: c.qp, PKey: c.index}
		f.Data[1] = uint8(c.class)
		if err := tr.Send(&f); err != nil {
			t.Fatal(err)
		}
		if _, err := unix.Read(kernel, b); err != nil {
			t.Fatal(err)
		}
		var h header
		if h.decode((*[headerSize]byte)(b)); h.pkey != c.want {
			t.Errorf("class 0x%02x with index %d goes with %d, want %d", uint8(c.class), c.index, h.pkey, c.want)
		}
	}
}

// TestTraps checks that traps reach a client that requests them.
func TestTraps(t *testing.T) {
	tr, kernel := onSocket(t)
	traps := make(chan mad.Trap, 1)
	c, err := mad.NewClient(tr, mad.ClientOptions{Traps: traps})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	smp := mad.SMP{
		BaseVersion: 1, Class: mad.ClassSMPLID, ClassVersion: 1, Method: mad.MethodTrap, Attr: mad.AttrNotice,
	}
	data, err := (&mad.Notice{Generic: true, Trap: mad.TrapLinkState, IssuerLID: 7}).AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	copy(smp.Data[:], data)
	var f mad.Frame
	smp.Put(&f.Data)
	if _, err := unix.Write(kernel, packet(header{lid: 7}, 0, f.Data[:])); err != nil {
		t.Fatal(err)
	}
	if got := <-traps; got.SLID != 7 || got.Notice.Trap != mad.TrapLinkState {
		t.Errorf("%+v", got)
	}
}

func TestInterrupt(t *testing.T) {
	tr, kernel := onSocket(t)
	if !tr.Interrupt() {
		t.Error("it cannot be interrupted")
	}
	if err := tr.Recv(new(mad.Frame)); !errors.Is(err, mad.ErrInterrupted) {
		t.Errorf("got %v, want %v", err, mad.ErrInterrupted)
	}
	interrupted := make(chan error)
	go func() { interrupted <- tr.Recv(new(mad.Frame)) }()
	tr.Interrupt()
	if err := <-interrupted; !errors.Is(err, mad.ErrInterrupted) {
		t.Errorf("got %v, want %v", err, mad.ErrInterrupted)
	}
	if _, err := unix.Write(kernel, packet(header{}, 0, make([]byte, mad.Size))); err != nil {
		t.Fatal(err)
	}
	if err := tr.Recv(new(mad.Frame)); err != nil {
		t.Errorf("after that: %v", err)
	}
}

func TestGone(t *testing.T) {
	tr, kernel := onSocket(t)
	if err := unix.Shutdown(kernel, unix.SHUT_RDWR); err != nil {
		t.Fatal(err)
	}
	var f mad.Frame
	if err := tr.Recv(&f); !errors.Is(err, ErrGone) || !errors.Is(err, mad.ErrBroken) {
		t.Errorf("receive: %v", err)
	}
	f.Data[1] = 0x81
	if err := tr.Send(&f); !errors.Is(err, ErrGone) {
		t.Errorf("send: %v", err)
	}
}

// TestCloseWakes closes a transport on which goroutines wait to receive and others send.
func TestCloseWakes(t *testing.T) {
	held := testenv.Resources(t)
	for range 50 {
		tr, kernel := onSocket(t)
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				var f mad.Frame
				f.Data[1] = 0x81
				for {
					err := tr.Recv(&f)
					if i%2 == 0 {
						f.Data[1] = 0x81
						err = tr.Send(&f)
					}
					if errors.Is(err, fs.ErrClosed) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		for range 20 {
			_, _ = unix.Write(kernel, packet(header{}, 0, make([]byte, mad.Size)))
		}
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
		all.Wait()
		if err := tr.Close(); err != nil {
			t.Errorf("again: %v", err)
		}
		if err := tr.Recv(new(mad.Frame)); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("receive after close: %v", err)
		}
		_ = unix.Close(kernel)
	}
	held.CheckReleased(t)
}

// TestOpenNoDevice opens a file that is not a umad device.
func TestOpenNoDevice(t *testing.T) {
	held := testenv.Resources(t)
	m := machine{}.add(t, Port{CA: "mlx5_0", Number: 1, Umad: "umad0"})
	p := Port{CA: "mlx5_0", Number: 1, Umad: "umad0"}
	for range 20 {
		if _, err := Open(m.root, p, Options{}); !errors.Is(err, unix.ENOTTY) {
			t.Fatalf("an ordinary file: %v", err)
		}
		if _, err := Open(m.root, Port{Umad: "umad7"}, Options{}); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("no file: %v", err)
		}
	}
	if _, err := Open(m.root, Port{CA: "mlx5_0"}, Options{}); err == nil {
		t.Error("a port without a device was opened")
	}
	if _, err := Open(t.TempDir(), p, Options{}); !errors.Is(err, ErrNoModule) {
		t.Errorf("without ib_umad: %v", err)
	}
	held.CheckReleased(t)
}

func BenchmarkSend(b *testing.B) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _, _ = unix.Close(pair[0]), unix.Close(pair[1]) }()
	tr := &Transport{dev: &device{fd: pair[0]}, agents: newAgents()}
	var f mad.Frame
	f.Data[1] = 0x81
	in := make([]byte, packetSize)
	b.ReportAllocs()
	for b.Loop() {
		if err := tr.Send(&f); err != nil {
			b.Fatal(err)
		}
		_, _ = unix.Read(pair[1], in)
	}
}
