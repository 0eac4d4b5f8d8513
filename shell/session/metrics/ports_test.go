// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// TestOneReaderExportsPorts checks that one of several readers of a subnet exports the metrics of ports, that the next
// one follows when it ends, and that readers of other subnets are independent.
func TestOneReaderExportsPorts(t *testing.T) {
	name := fmt.Sprintf("%s %d", t.Name(), os.Getpid())
	all := make([]*Ports, 8)
	exporting := func() (n, at int) {
		var mu sync.Mutex
		var wait sync.WaitGroup
		for i, p := range all {
			wait.Go(func() {
				if p.exported(t.Context()) {
					mu.Lock()
					defer mu.Unlock()
					n, at = n+1, i
				}
			})
		}
		wait.Wait()
		return n, at
	}
	for i := range all {
		all[i] = &Ports{Subnet: name}
	}
	for left := range all {
		n, at := exporting()
		if n != 1 {
			t.Fatalf("%d readers export after %d ended", n, left)
		}
		if again, same := exporting(); again != 1 || same != at {
			t.Errorf("%d readers export, the first is %d, before %d", again, same, at)
		}
		if err := all[at].release(); err != nil {
			t.Error(err)
		}
	}
	other, never := &Ports{Subnet: name + " other"}, &Ports{Never: true}
	if !other.exported(t.Context()) || never.exported(t.Context()) || !new(Ports).exported(t.Context()) {
		t.Error("a reader of another subnet, one that must not, or one that must")
	}
	if err := other.release(); err != nil {
		t.Error(err)
	}
}
