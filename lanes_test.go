// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"testing"
)

// TestLanesGoOutAndIn dumps the lanes and service levels of a routing and lays them
// over its plain tables: what comes out is the same.
func TestLanesGoOutAndIn(t *testing.T) {
	stateHome(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	ibconsole(t, "-s", "sim:torus:6x5", "-c", "engine torus-2QoS; route; dump lfts "+at("lfts")+"; dump sl2vl "+at("sl2vl")+"; dump sls "+at("sls"))
	ibconsole(t, "-s", "sim:torus:6x5", "-c", "load lfts "+at("lfts")+"; load sl2vl "+at("sl2vl")+"; load sls "+at("sls")+
		"; check credits; dump sl2vl "+at("sl2vl2")+"; dump sls "+at("sls2"))
	sameFile(t, at("sl2vl"), at("sl2vl2"))
	sameFile(t, at("sls"), at("sls2"))
	if r := try("-s", "sim:torus:6x5", "-c", "load lfts "+at("lfts")+"; check credits"); r.status != exitFailed {
		t.Errorf("without the lanes no credit loop is found: %s", r.out)
	}
}
