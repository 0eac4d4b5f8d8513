// SPDX-License-Identifier: Apache-2.0

package ibsim

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"example.org/ibconsole/mad"
)

// Packets that are never answered do not count as in flight for ever.
func TestLostPacketsAreNotCounted(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = unix.Close(pair[0]), unix.Close(pair[1]) }()
	tr := &Transport{}
	tr.out.held.resize(batchSize)
	tr.in.kept.resize(batchSize)
	if tr.clients, err = openClients(); err != nil {
		t.Fatal(err)
	}
	defer tr.clients.close()
	tr.clients.add(&client{fd: pair[0]})
	var f mad.Frame
	for range 5 {
		if err := tr.Send(&f); err != nil {
			t.Fatal(err)
		}
	}
	if n := tr.clients.inFlight(); n != 5 {
		t.Fatalf("%d packets in flight, want 5", n)
	}
	for end := time.Now().Add(time.Minute); tr.clients.inFlight() > 0 && time.Now().Before(end); {
		time.AfterFunc(idleAfter+50*time.Millisecond, func() { _, _ = unix.Write(pair[1], make([]byte, packetSize)) })
		if err := tr.Recv(&f); err != nil {
			t.Fatal(err)
		}
	}
	if n := tr.clients.inFlight(); n != 0 {
		t.Errorf("%d packets in flight, want 0", n)
	}
}
