// SPDX-License-Identifier: Apache-2.0

package transition

import (
	"errors"
	"testing"
	"time"

	"example.org/ibconsole/fabric/gen/gentest"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/changes/transition"
)

// TestSettleTime checks the time to settle: 4.096 us x 2^LifeTimeValue for each switch of the longest path. From a
// LifeTimeValue of 20 on there is none.
func TestSettleTime(t *testing.T) {
	f := gentest.WithLIDs(t, "fattree:2,4")
	tables := fabric.NewTables(f, fabric.NewLFT(len(f.Switches), f.MaxLID), "test")
	p := &transition.Plan{Longest: 3, Steps: make([]transition.Step, 2)}
	p.Steps[0].Settle = true
	if x := planOf(tables, p); !x.Settle.IsNotRead() || x.Why.IsNone() || x.Settles != 1 {
		t.Errorf("without life times: %+v", x)
	}
	tables.LifeTimes = make([]uint8, len(f.Switches))
	tables.LifeTimes[1] = 18
	if x := planOf(tables, p); x.Each != (3*1073741824*time.Nanosecond).String() || !x.Why.IsNone() {
		t.Errorf("a life time of 1.07 s and 3 switches: %q", x.Each)
	}
	tables.LifeTimes[2] = 20
	if _, err := p.SettleTime(tables); !errors.Is(err, transition.ErrUnlimited) {
		t.Errorf("an unlimited life time: %v", err)
	}
}
