// SPDX-License-Identifier: Apache-2.0

package ibsim

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"example.org/ibconsole/mad"
)

// TestLostIsWrittenOff: packets that are never answered do not count as under way for
// ever.
func TestLostIsWrittenOff(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = unix.Close(pair[0]), unix.Close(pair[1]) }()
	tr := &Transport{}
	tr.out.held.resize(together)
	tr.in.kept.resize(together)
	if tr.lanes, err = openLanes(); err != nil {
		t.Fatal(err)
	}
	defer tr.lanes.close()
	tr.lanes.add(&lane{fd: pair[0]})
	var f mad.Frame
	for range 5 {
		if err := tr.Send(&f); err != nil {
			t.Fatal(err)
		}
	}
	if n := tr.lanes.underWay(); n != 5 {
		t.Fatalf("%d packets under way, want 5", n)
	}
	for end := time.Now().Add(time.Minute); tr.lanes.underWay() > 0 && time.Now().Before(end); {
		time.AfterFunc(calm+50*time.Millisecond, func() { _, _ = unix.Write(pair[1], make([]byte, packetSize)) })
		if err := tr.Recv(&f); err != nil {
			t.Fatal(err)
		}
	}
	if n := tr.lanes.underWay(); n != 0 {
		t.Errorf("%d packets under way, want 0", n)
	}
}
