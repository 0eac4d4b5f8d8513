// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"fmt"
	"testing"
)

// The words are those of libibmad (rdma-core, libibmad/dump.c).
func TestPortWords(t *testing.T) {
	for _, c := range []struct {
		value fmt.Stringer
		want  string
	}{
		{PortNoChange, "NoChange"}, {PortDown, "Down"}, {PortInit, "Initialize"}, {PortArmed, "Armed"},
		{PortActive, "Active"}, {PortState(5), "?(5)"},
		{PhysNoChange, "NoChange"}, {PhysSleep, "Sleep"}, {PhysPolling, "Polling"}, {PhysDisabled, "Disabled"},
		{PhysTraining, "PortConfigurationTraining"}, {PhysLinkUp, "LinkUp"},
		{PhysLinkErrorRecovery, "LinkErrorRecovery"}, {PhysTest, "PhyTest"}, {PhysState(8), "?(8)"},
		{MTU256, "256"}, {MTU4096, "4096"}, {MTU(0), "?(0)"}, {MTU(6), "?(6)"},
		{VLs(0), "?(0)"}, {VLs(1), "VL0"}, {VLs(2), "VL0-1"}, {VLs(4), "VL0-7"}, {VLs(5), "VL0-14"}, {VLs(6), "?(6)"},
	} {
		if got := c.value.String(); got != c.want {
			t.Errorf("%T(%d) is %q, want %q", c.value, c.value, got, c.want)
		}
	}
}
