// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/credits"
)

// LevelsError says that a routing is free of deadlock by service levels alone, which
// a commit does not bring to the hosts.
type LevelsError struct{ Origin string }

func (e *LevelsError) Error() string {
	return fmt.Sprintf("the routes of %s are free of credit loops by their service levels and lanes alone, which a commit does not write: hosts get "+
		"service levels from the subnet administration. With SL 0 everywhere they have credit loops (try: handover DIR, for the subnet manager to route so)", e.Origin)
}

// provedWithoutLevels fails where tables that need service levels have credit loops
// when all packets go on the lanes that the live subnet has for SL 0.
func provedWithoutLevels(ctx context.Context, live, staged *fabric.Tables) error {
	if staged.SLs == nil {
		return nil
	}
	plain := *staged
	plain.SLs, plain.SL2VL = nil, nil
	if live.SL2VL != nil && fabric.Same(live.Fabric, staged.Fabric) {
		plain.SL2VL = live.SL2VL
	}
	res, err := credits.Check(ctx, &plain, credits.Options{})
	if err != nil {
		return err
	}
	if res.Ring != nil {
		return &LevelsError{staged.Origin}
	}
	return nil
}
