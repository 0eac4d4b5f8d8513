// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"example.org/ibconsole/mad"
)

// keyFits checks the request's M_Key (IBA 1.2.1, 14.2.4.1 and 14.2.4.2): known is false for a wrong one,
// which then must not be told the right one; a request that is not allowed with a wrong key is not answered
// at all. That is a violation: it is counted and starts the lease, which a right key stops, and which takes
// the port's protection away when it has run out.
func (a *agent) keyFits(method mad.Method, key uint64) (known, allowed bool) {
	p := a.end
	if !p.leaseEnd.IsZero() && !a.s.now().Before(p.leaseEnd) {
		p.leaseEnd = time.Time{}
		p.info.MKeyProtect = 0
		p.encode()
	}
	if p.info.MKey == 0 || key == p.info.MKey {
		p.leaseEnd = time.Time{}
		return true, true
	}
	if method == mad.MethodGet && p.info.MKeyProtect < 2 {
		return p.info.MKeyProtect == 0, true
	}
	p.info.MKeyViolations += min(1, ^p.info.MKeyViolations)
	p.encode()
	if p.leaseEnd.IsZero() && p.info.MKeyLeasePeriod > 0 {
		p.leaseEnd = a.s.now().Add(time.Duration(p.info.MKeyLeasePeriod) * time.Second)
	}
	return false, false
}
