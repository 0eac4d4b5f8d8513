// SPDX-License-Identifier: Apache-2.0

// Package umad accesses the InfiniBand adapters of this machine. [Open] returns a [mad.Transport] over the character
// devices /dev/infiniband/umadN of the Linux module ib_umad. [Ports] lists adapters and ports from sysfs. [Diagnose]
// reports why a port cannot be used.
//
// The interface of the devices is defined in Linux's include/uapi/rdma/ib_user_mad.h. The kernel side is in
// drivers/infiniband/core/user_mad.c and mad.c. A program registers an agent with the kernel for each queue pair and
// class that it uses. The kernel puts the agent's number into the upper 32 bits of the transaction ID, and passes an
// answer to the agent that sent the request. If no answer arrives in time, the kernel returns the request with the
// status ETIMEDOUT. The kernel does not repeat requests; the client does.
//
// Subnet management packets use queue pair 0, all other packets queue pair 1. A port whose link layer is Ethernet
// (RoCE) has no queue pair 0.
//
// Functions with a root argument look for sysfs and devices below this directory, for tests. The root "" is the machine
// itself.
package umad
