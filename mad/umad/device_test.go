// SPDX-License-Identifier: Apache-2.0

package umad_test

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/mad/umad"
	"example.org/ibconsole/mad/umad/umadtest"
)

// on is set inside the environment in which the tests of this file run again.
var on = flag.String("umad", "", "run the tests for umad devices on ibsim or on a kernel")

// again returns the command that runs the device tests of this package there.
func again(t *testing.T, where string) []string {
	return []string{umadtest.Build(t, ".", true), "-umad=" + where, "-test.run=^TestDevice", "-test.v"}
}

func TestOnIbsim(t *testing.T) {
	s := ibsimtest.Start(t, "../ibsim/testdata/two-switches.net")
	run := umadtest.Devices(t, s.Name)
	t.Log(run(again(t, "ibsim")...))
}

func TestOnKernel(t *testing.T) {
	run := umadtest.Kernel(t, true)
	out, status := run(again(t, "kernel")...)
	if t.Log(out); status != 0 {
		t.Errorf("exit status %d", status)
	}
}

// device returns the only port of the environment; the test is skipped in environments that are not listed.
func device(t *testing.T, environments ...string) umad.Port {
	t.Helper()
	if !slices.Contains(environments, *on) {
		t.Skip("runs in another environment: " + t.Name())
	}
	ports, err := umad.Ports("")
	if err != nil || len(ports) != 1 {
		t.Fatalf("ports %+v, %v", ports, err)
	}
	return ports[0]
}

func open(t *testing.T, p umad.Port) *umad.Transport {
	t.Helper()
	tr, err := openPort(p, umad.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
	})
	return tr
}

// openPort retries for a while if the stand-in for the kernel, which notices a close late, still uses the port.
func openPort(p umad.Port, opts umad.Options) (*umad.Transport, error) {
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		tr, err := umad.Open("", p, opts)
		busy := errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EBUSY)
		if !busy || time.Now().After(deadline) {
			return tr, err
		}
	}
}

// TestDevicePort checks the kernel's description of Soft-RoCE.
func TestDevicePort(t *testing.T) {
	p := device(t, "kernel")
	want := umad.Port{
		CA: "rxe0", Number: 1, Umad: "umad0", ISSM: "issm0", LinkLayer: umad.Ethernet, State: mad.PortActive,
		Phys:    mad.PhysLinkUp,
		CapMask: 0x10000, Rate: "2.5 Gb/sec (1X SDR)", NodeType: mad.NodeCA,
	}
	want.PKeys, want.GUID, want.NodeGUID, want.SystemGUID = p.PKeys, p.GUID, p.NodeGUID, p.SystemGUID
	if p.String() != want.String() || p.LinkLayer != want.LinkLayer || p.State != want.State ||
		p.CapMask != want.CapMask ||
		p.Rate != want.Rate || p.NodeType != want.NodeType || p.Umad != want.Umad || p.ISSM != want.ISSM {
		t.Errorf("%+v, want %+v", p, want)
	}
	if _, member := p.DefaultPKey(); !member || p.NodeGUID == 0 || p.GUID == 0 {
		t.Errorf("%+v", p)
	}
}

// TestDeviceAgents checks that a port without queue pair 0 still has queue pair 1.
func TestDeviceAgents(t *testing.T) {
	p := device(t, "kernel", "ibsim")
	tr := open(t, p)
	for class, ibOnly := range map[mad.Class]bool{mad.ClassSMPLID: true, mad.ClassSMPDirected: true, mad.ClassSA: false,
		mad.ClassPerf: false} {
		err := tr.Refused(class)
		if ibOnly && *on == "kernel" {
			if !errors.Is(err, umad.ErrRefused) || !errors.Is(err, syscall.EPROTONOSUPPORT) {
				t.Errorf("class 0x%02x on Ethernet: %v", uint8(class), err)
			}
			f := mad.Frame{DLID: mad.PermissiveLID}
			f.Data[1] = uint8(class)
			if serr := tr.Send(&f); !errors.Is(serr, umad.ErrRefused) || errors.Is(serr, mad.ErrBroken) {
				t.Errorf("class 0x%02x was sent on Ethernet: %v", uint8(class), serr)
			}
			continue
		}
		if err != nil {
			t.Errorf("class 0x%02x: %v", uint8(class), err)
		}
	}
}

// TestDeviceOpenClose checks that nothing leaks. The kernel's limit is 32 agents for each file; those of umad2sim are
// 32 agents and 8 files in all.
func TestDeviceOpenClose(t *testing.T) {
	p := device(t, "kernel", "ibsim")
	held := testenv.Resources(t)
	for range 60 {
		tr, err := openPort(p, umad.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var waiting sync.WaitGroup
		waiting.Go(func() {
			if err := tr.Recv(new(mad.Frame)); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("receive at close: %v", err)
			}
		})
		for range 2 {
			if err := tr.Close(); err != nil {
				t.Error(err)
			}
		}
		waiting.Wait()
		if err := tr.Send(new(mad.Frame)); err == nil {
			t.Error("sent after close")
		}
	}
	held.CheckReleased(t)
	diagnosed := testenv.Resources(t)
	for range 3 {
		umad.Diagnose(t.Context(), "", nil)
	}
	diagnosed.CheckReleased(t)
}

// TestDeviceTaken checks the port's capabilities while issm0 is open.
func TestDeviceTaken(t *testing.T) {
	device(t, "kernel")
	sm, err := os.Open("/dev/infiniband/issm0")
	if err != nil {
		t.Fatal(err)
	}
	taken := device(t, "kernel")
	if err := sm.Close(); err != nil {
		t.Fatal(err)
	}
	if taken.CapMask&mad.CapIsSM == 0 || device(t, "kernel").CapMask&mad.CapIsSM != 0 {
		t.Errorf("capabilities with a subnet manager are 0x%08x", taken.CapMask)
	}
}

// TestDeviceClient uses a client over a device.
func TestDeviceClient(t *testing.T) {
	p := device(t, "ibsim")
	c, err := mad.NewClient(open(t, p), mad.ClientOptions{Window: 16, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	info, err := c.NodeInfo(t.Context(), mad.Path{})
	if err != nil || info.NodeGUID != p.NodeGUID {
		t.Fatalf("%+v, %v, want GUID 0x%016x", info, err, p.NodeGUID)
	}
	b := c.NewBatch(t.Context())
	answers := 0
	for range 1000 {
		b.Go(mad.Request{Attr: mad.AttrNodeInfo}, func(r *mad.Reply) {
			var again mad.NodeInfo
			if err := r.Decode(&again); err != nil || again != info {
				t.Errorf("%+v, %v", again, err)
			}
			answers++
		})
	}
	if err := b.Wait(); err != nil || answers != 1000 {
		t.Errorf("%d answers, %v", answers, err)
	}
	path, err := mad.Path{}.Append(200)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.NodeInfo(t.Context(), path); !errors.Is(err, mad.ErrTimeout) {
		t.Errorf("through a port that is not there: %v", err)
	}
}

// TestDeviceSentBack checks that the kernel returns a request to an unused address. It uses no client, which would not
// need that.
func TestDeviceSentBack(t *testing.T) {
	p := device(t, "ibsim")
	tr := open(t, p)
	smp := mad.SMP{
		BaseVersion: 1, Class: mad.ClassPerf, ClassVersion: 1, Method: mad.MethodGet, Attr: mad.AttrClassPortInfo,
		TID: 0x1234567,
	}
	f := mad.Frame{DLID: mad.LastUnicastLID, QP: mad.QP1, Timeout: 50 * time.Millisecond}
	smp.Put(&f.Data)
	if err := tr.Send(&f); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = tr.Close() })()
	var back mad.Frame
	if err := tr.Recv(&back); err != nil {
		t.Fatal(err)
	}
	if tid := binary.BigEndian.Uint32(back.Data[12:]); back.Status != uint32(syscall.ETIMEDOUT) || tid != 0x1234567 {
		t.Errorf("%+v", back)
	}
}

// TestDeviceFound checks that the devices in sysfs are in /dev.
func TestDeviceFound(t *testing.T) {
	p := device(t, "kernel", "ibsim")
	if _, err := os.Stat(filepath.Join("/dev/infiniband", p.Umad)); err != nil {
		t.Error(err)
	}
	if got, err := umad.Usable("", nil); (err == nil) != (*on == "ibsim") {
		t.Errorf("usable is %v, %v", got, err)
	}
}

// TestDeviceTraps checks that the stand-in gives traps to any program.
func TestDeviceTraps(t *testing.T) {
	p := device(t, "ibsim")
	tr, err := openPort(p, umad.Options{Traps: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tr.Close() }()
	if err := tr.NoTraps(); err != nil {
		t.Error(err)
	}
	if err := tr.Refused(mad.ClassSMPLID); err != nil {
		t.Error(err)
	}
}
