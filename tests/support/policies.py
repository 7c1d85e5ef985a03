"""Texts of policies that several tests hand to a command."""

SMALL = """apiVersion: foretide.dev/v1alpha1
kind: TidePolicy
metadata: {name: small, namespace: llm}
spec:
  targetRef: {apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, name: small}
  demand: {query: up}
  capacity: {perReplica: 3}
"""

CHAT = """
apiVersion: foretide.dev/v1alpha1
kind: TidePolicy
metadata: {name: chat, namespace: llm}
spec:
  timeZone: Asia/Shanghai
  targetRef: {apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, name: chat}
  demand: {query: "sum(demand)"}
  capacity: {perReplica: 3.2}
"""
